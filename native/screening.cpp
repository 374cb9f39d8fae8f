#include "screening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "candidates.hpp"
#include "isa.hpp"
#include "parts.hpp"
#include "passes.hpp"

namespace sureshot {
namespace {

// Queries of float32 as kernels read them: where rows are widened, zeros follow each.
class PaddedQueries {
 public:
    PaddedQueries(const Matrix& matrix, const float* queries, std::int64_t count)
        : asked_{queries, count, matrix.n_columns} {
        if (screened_in_place(matrix) || coordinate_major(matrix)) return;
        const std::int64_t size = matrix.n_columns;
        asked_.stride = (size + screen_lanes - 1) / screen_lanes * screen_lanes;
        values_.resize(static_cast<std::size_t>(count * asked_.stride));
        for (std::int64_t q = 0; q < count; ++q) std::copy_n(queries + q * size, size, values_.data() + q * asked_.stride);
        asked_.queries = values_.data();
    }
    PaddedQueries(const PaddedQueries&) = delete;
    PaddedQueries& operator=(const PaddedQueries&) = delete;

    const Asked& asked() const { return asked_; }

 private:
    Asked asked_;
    std::vector<float> values_;
};

// Rows that kernels screen side by side, at most: threads take so many at a time, and screen so many, at least, for one
// query over a part of the columns before the next part, since a query that is too long for the caches is read again for
// each part.
constexpr std::int64_t fewest_rows = 8;
// And at most: short rows are fetched while many others are screened.
constexpr std::int64_t most_rows_alone = 512;

// Calls f(thread, first, count, sums, squares) with the sums [query][arm] and, if they are wanted, the squares of the
// arms from `first` on. Sums of distances are positive.
template <class F>
void screen_by_row(Team& team, const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, bool squared,
                   const F& f) {
    const std::int64_t tables = asked.count + (squared ? 1 : 0);
    const bool alone = asked.count == 1;
    // Several queries are as long as some rows: they are read from the caches once for many of these.
    const std::int64_t rows_of_a_part = numbers_in_a_part / std::max<std::int64_t>(matrix.n_columns, 1);
    const std::int64_t together =
        alone ? std::clamp(rows_of_a_part / fewest_rows * fewest_rows, fewest_rows, most_rows_alone) : most_rows;
    const Workspaces spaces(team, tables * together);
    const auto screen_some = [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
        double* const sums = spaces.of(thread);
        for (std::int64_t some = begin; some < end; some += together) {
            const Arms few{arms.ids + some, std::min(together, end - some)};
            double* const squares = squared ? sums + asked.count * few.count : nullptr;
            std::fill(sums, sums + tables * few.count, 0.0);
            const bool done =
                in_parts(team, matrix.n_columns, few.count, [&](std::int64_t from, std::int64_t to) {
                    kernels().screen_rows(matrix, metric, asked, few, from, to, sums, squares);
                });
            if (!done) return;
            f(thread, some, few.count, sums, squares);
        }
    };
    const std::int64_t group = alone ? fewest_rows : 1;
    const std::int64_t groups = (arms.count + group - 1) / group;
    team.run(groups, group * asked.count * matrix.n_columns,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 screen_some(begin * group, std::min(end * group, arms.count), thread);
             },
             alone ? 1 : together / 2);
}

// Coordinate-major data: where there are few arms, threads share the columns and not the arms. Short pieces of columns take
// longer, since the processor fetches on beyond their ends. How many parts there are depends on the data alone: so the
// sums are the same with any number of threads.
constexpr std::int64_t places_alone = std::int64_t{1} << 14;  // of one query: several have more sums
constexpr std::int64_t most_column_parts = 16;
constexpr std::int64_t numbers_of_a_column_part = std::int64_t{1} << 18;
constexpr std::int64_t most_sums_in_parts = std::int64_t{1} << 21;  // 16 MB

// In how many parts the columns are read where so many sums belong to each.
std::int64_t column_parts(const Matrix& matrix, const Asked& asked, Arms arms, std::int64_t sums) {
    const std::int64_t numbers = asked.count * matrix.n_columns * arms.count;
    const std::int64_t most = std::min({most_column_parts, numbers / numbers_of_a_column_part,
                                        matrix.n_columns / columns_in_a_part, most_sums_in_parts / sums});
    return std::max<std::int64_t>(most, 1);
}

template <class F>
void screen_by_column(Team& team, const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, bool squared,
                      const F& f) {
    if (arms.count == 0) return;
    const std::int64_t most = asked.count == 1 ? places_alone : arms_per_tile;
    const std::vector<ArmTile> tiles = ArmTile::all(matrix, arms, most);
    const std::int64_t tables = asked.count + (squared ? 1 : 0);
    const auto n_tiles = static_cast<std::int64_t>(tiles.size());
    const std::int64_t room = ArmTile::most_places(arms, most) * tables;
    const std::int64_t parts = column_parts(matrix, asked, arms, n_tiles * room);
    // Each part has its own sums of all places; where there is one part, each thread. And then there are those of the arms.
    const Workspaces spaces(parts > 1 ? n_tiles * parts : team.threads(), room);
    const Workspaces picked(parts > 1 ? 1 : team.threads(), room);
    const auto show = [&](std::int64_t thread, const ArmTile& tile, const double* sums) {
        double* const own = picked.of(thread);
        for (std::int64_t table = 0; table < tables; ++table) {
            tile.pick(sums + table * tile.places.count, arms.ids, own + table * tile.count);
        }
        f(thread, tile.begin, tile.count, own, squared ? own + asked.count * tile.count : nullptr);
    };
    const std::int64_t items = n_tiles * parts;
    team.run(items, asked.count * matrix.n_columns * arms.count / items,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 for (std::int64_t item = begin; item < end; ++item) {
                     const ArmTile& tile = tiles[static_cast<std::size_t>(item / parts)];
                     const std::int64_t places = tile.places.count, columns = part_size(matrix.n_columns, parts);
                     const std::int64_t first = std::min(item % parts * columns, matrix.n_columns);
                     double* const sums = spaces.of(parts > 1 ? item : thread);
                     std::fill(sums, sums + tables * places, 0.0);
                     const std::int64_t count = std::min(columns, matrix.n_columns - first);
                     const bool done = in_parts(team, count, places * tables, [&](std::int64_t from, std::int64_t to) {
                         kernels().screen_columns(matrix, metric, asked, tile.places, first + from, first + to, sums,
                                                  squared ? sums + asked.count * places : nullptr);
                     });
                     if (!done) return;
                     if (parts == 1) show(thread, tile, sums);
                 }
             });
    if (parts == 1) return;
    for (std::int64_t at = 0; at < n_tiles; ++at) {
        const ArmTile& tile = tiles[static_cast<std::size_t>(at)];
        double* const sums = spaces.of(at * parts);
        for (std::int64_t part = 1; part < parts; ++part) {
            const double* const more = spaces.of(at * parts + part);
            for (std::int64_t i = 0; i < tables * tile.places.count; ++i) sums[i] += more[i];
        }
        show(0, tile, sums);
    }
}

template <class F>
void screen_all(Team& team, const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, bool squared,
                const F& f) {
    if (coordinate_major(matrix)) {
        screen_by_column(team, matrix, metric, asked, arms, squared, f);
    } else {
        screen_by_row(team, matrix, metric, asked, arms, squared, f);
    }
}

// So many times as many arms are screened before it is decided again whether to go on.
constexpr std::int64_t growth = 4;

// What makes a score of a sum: distances are negated.
double sign_of(Metric metric) { return metric == Metric::inner_product ? 1.0 : -1.0; }

// Fills in the scores of the arms that were found.
void evaluate(Team& team, const Matrix& matrix, const Question& question, Arms arms, const Wanted& wanted,
              Evaluated& found) {
    const std::size_t count = found.positions.size();
    std::vector<std::int64_t> ids(count);
    for (std::size_t at = 0; at < count; ++at) ids[at] = arms.ids[found.positions[at]];
    const double* const norms = wanted.errors.norms;
    std::vector<double> squares(norms == nullptr ? 0 : count);
    found.scores.resize(count);
    const Arms chosen{ids.data(), static_cast<std::int64_t>(count)};
    double* const wanted_squares = norms == nullptr ? nullptr : squares.data();
    if (question.floats != nullptr) {
        row_scores(team, matrix, question.metric, question.floats, 1, chosen, found.scores.data(), wanted_squares);
    } else {
        row_scores(team, matrix, question.metric, question.query, 1, chosen, found.scores.data(), wanted_squares);
    }
    for (std::size_t at = 0; at < count; ++at) {
        const std::int64_t position = found.positions[at];
        double& score = found.scores[at];
        if (wanted.errors.scale != nullptr) score *= wanted.errors.scale[position];
        if (wanted.errors.absolute) score = std::fabs(score);
        found.trusted &= std::isfinite(score);
        if (norms == nullptr) continue;
        const double norm = norms[position];
        found.trusted &= std::fabs(std::sqrt(squares[at]) - norm) <= norm * wanted.norm_leeway;
    }
}

}  // namespace

void screen(Team& team, const Matrix& matrix, Metric metric, const float* queries, std::int64_t n_queries,
            Arms arms, double* scores, double* squares) {
    const PaddedQueries padded(matrix, queries, n_queries);
    const double sign = sign_of(metric);
    screen_all(team, matrix, metric, padded.asked(), arms, squares != nullptr,
               [&](std::int64_t, std::int64_t first, std::int64_t count, const double* sums, const double* own) noexcept {
                   for (std::int64_t q = 0; q < n_queries; ++q) {
                       double* const out = scores + q * arms.count + first;
                       for (std::int64_t at = 0; at < count; ++at) out[at] = sign * sums[q * count + at];
                   }
                   if (squares != nullptr) std::copy_n(own, count, squares + first);
               });
}

Evaluated screen_and_evaluate(Team& team, const Matrix& matrix, const Question& question, Arms arms,
                              const Wanted& wanted) {
    const PaddedQueries padded(matrix, question.rounded, 1);
    Candidates candidates(team.threads(), arms.count, wanted.k, wanted.best, wanted.n_best);
    Uncertain all = wanted.errors;
    all.unit *= sign_of(question.metric);
    Evaluated found{0, false, {}, {}, true};
    for (std::int64_t stop = wanted.first; found.screened < arms.count; stop *= growth) {
        const std::int64_t begin = found.screened, end = std::min(stop, arms.count);
        screen_all(team, matrix, question.metric, padded.asked(), {arms.ids + begin, end - begin},
                   question.metric == Metric::inner_product,
                   [&](std::int64_t thread, std::int64_t first, std::int64_t count, const double* sums,
                       const double* squares) noexcept {
                       const std::int64_t at = begin + first;
                       Uncertain some = all;
                       some.sums = sums;
                       some.squares = squares;
                       some.scale = all.scale == nullptr ? nullptr : all.scale + at;
                       some.norms = all.norms == nullptr ? nullptr : all.norms + at;
                       some.count = count;
                       candidates.show(thread, at, some);
                   });
        found.screened = end;
        found.positions = candidates.found();
        found.too_many = static_cast<double>(found.positions.size()) > wanted.share * static_cast<double>(end);
        if (found.too_many) {
            found.positions.clear();
            return found;
        }
    }
    evaluate(team, matrix, question, arms, wanted, found);
    return found;
}

Evaluated evaluate_all(Team& team, const Matrix& matrix, const Question& question, Arms arms, const Wanted& wanted) {
    Evaluated found{0, false, std::vector<std::int64_t>(static_cast<std::size_t>(arms.count)), {}, true};
    std::iota(found.positions.begin(), found.positions.end(), 0);
    evaluate(team, matrix, question, arms, wanted, found);
    return found;
}

}  // namespace sureshot
