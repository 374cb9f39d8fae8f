// How passes over the matrix are divided: parts of the columns, between which a team may be cancelled, tiles of
// arms, and the room that each thread has.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels.hpp"
#include "runs.hpp"
#include "team.hpp"

namespace sureshot {

// Numbers that are read between two checks of whether the team is cancelled: a fraction of a millisecond, or some
// milliseconds where each of them comes in a cache line of its own.
constexpr std::int64_t numbers_in_a_part = std::int64_t{1} << 19;

// Rows that are read in one call of a kernel.
constexpr std::int64_t most_rows = 64;

// Coordinate-major data: enough arms for a piece of a column to be worth fetching, few enough for the lane of
// theirs that is added to, 40 KB, to stay in the caches.
constexpr std::int64_t arms_per_tile = 5120;
constexpr std::int64_t arms_per_thread = 4096;  // at least, if there are so many
// A value in a cache line of its own takes as long to read as so many that follow each other.
constexpr std::int64_t sparse = 16;

// Whether these arms of coordinate-major data share hardly any cache lines.
inline bool far_apart(const Matrix& matrix, Arms arms) {
    if (!coordinate_major(matrix) || arms.count == 0) return false;
    const auto [first, last] = std::minmax_element(arms.ids, arms.ids + arms.count);
    return arms.count == 1 || *last - *first >= sparse * arms.count;
}

// Calls f(begin, end) with one part of the columns after the other; returns false if the team was cancelled.
template <class F>
bool in_parts(Team& team, std::int64_t n_columns, std::int64_t n_arms, const F& f) {
    const std::int64_t wanted = numbers_in_a_part / std::max<std::int64_t>(n_arms, 1);
    const std::int64_t part = std::max<std::int64_t>(wanted / columns_in_a_part, 1) * columns_in_a_part;
    for (std::int64_t begin = 0; begin < n_columns; begin += part) {
        if (team.cancelled()) return false;
        f(begin, std::min(begin + part, n_columns));
    }
    return true;
}

// Cache lines that runs of columns begin with, and that are on their way while others are added up.
constexpr std::int64_t lines_on_their_way = 96;

// The same for each of some runs of columns. Well before that, fetch(run) is called, which fetches so many lines.
template <class F, class Fetch>
bool in_runs(Team& team, Runs runs, std::int64_t n_arms, const F& f, std::int64_t lines, const Fetch& fetch) {
    const std::int64_t ahead = std::max<std::int64_t>(lines_on_their_way / lines, 1);
    std::int64_t unchecked = 0;  // numbers of short runs: to ask after each would take longer than to read it
    for (std::int64_t at = 0; at < runs.count; ++at) {
        if (at + ahead < runs.count) fetch(runs.runs[at + ahead]);
        const auto [begin, end] = runs.runs[at];
        if (end - begin > columns_in_a_part) {
            const auto moved = [&, start = begin](std::int64_t from, std::int64_t to) { f(start + from, start + to); };
            if (!in_parts(team, end - begin, n_arms, moved)) return false;
            continue;
        }
        unchecked += (end - begin) * n_arms;
        if (unchecked > numbers_in_a_part) {
            if (team.cancelled()) return false;
            unchecked = 0;
        }
        f(begin, end);
    }
    return true;
}

// The columns of each of so many parts but the last ones, a whole number of columns_in_a_part.
inline std::int64_t part_size(std::int64_t n_columns, std::int64_t parts) {
    const std::int64_t size = (n_columns + parts - 1) / parts;
    return (size + columns_in_a_part - 1) / columns_in_a_part * columns_in_a_part;
}

// Rows that make up a part, if so many columns of them are read.
inline std::int64_t rows_at_once(std::int64_t n_columns) {
    const std::int64_t rows = numbers_in_a_part / std::max<std::int64_t>(n_columns, 1);
    return std::clamp<std::int64_t>(rows / 4 * 4, 4, most_rows);
}

// Room for numbers of each thread, with anything in it: stacks are too small for it, and inside a job a lack
// of memory could not be reported.
class Workspaces {
 public:
    Workspaces(const Team& team, std::int64_t size) : Workspaces(team.threads(), size) {}
    // The same for so many others that need room.
    Workspaces(std::int64_t count, std::int64_t size)
        : size_(size), numbers_(new double[static_cast<std::size_t>(count * size)]) {}

    double* of(std::int64_t thread) const { return numbers_.get() + thread * size_; }

 private:
    std::int64_t size_;
    std::unique_ptr<double[]> numbers_;
};

// The first of some arms that are read together column by column, and how to find them. Ascending arms that
// lie close together are read with all those between them: the cache lines are the same, and vectors are
// faster than gathers.
struct ArmTile {
    std::int64_t begin;  // the first of its arms
    std::int64_t count;
    Places places;

    // Those of the arms from `begin` on.
    ArmTile(const Matrix& matrix, Arms all, std::int64_t begin = 0, std::int64_t most = arms_per_tile) : begin(begin) {
        const Arms arms{all.ids + begin, all.count - begin};
        const std::int64_t first = arms.ids[0];
        count = 1;
        while (count < arms.count && arms.ids[count] > arms.ids[count - 1] && arms.ids[count] < first + most) ++count;
        const std::int64_t span = arms.ids[count - 1] - first + 1;
        if (matrix.row_stride == 1 && span < sparse * count) {
            places = {nullptr, first, span};
        } else {
            count = std::min(most, arms.count);
            places = {arms.ids, 0, count};
        }
    }

    // The tiles that some arms make.
    static std::vector<ArmTile> all(const Matrix& matrix, Arms arms, std::int64_t most = arms_per_tile) {
        std::vector<ArmTile> tiles;
        for (std::int64_t arm = 0; arm < arms.count; arm += tiles.back().count) {
            tiles.emplace_back(matrix, arms, arm, most);
        }
        return tiles;
    }

    // Places that a tile of so many arms has at most.
    static std::int64_t most_places(Arms arms, std::int64_t most = arms_per_tile) {
        return std::min(sparse * arms.count, most);
    }

    // Copies what was found for each place to the entries of its arms, which are some of those with these ids.
    void pick(const double* found, const std::int64_t* ids, double* out) const {
        for (std::int64_t at = 0; at < count; ++at) {
            out[at] = found[places.ids == nullptr ? ids[begin + at] - places.first : at];
        }
    }
};

}  // namespace sureshot
