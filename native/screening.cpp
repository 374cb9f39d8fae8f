#include "screening.hpp"

#include <algorithm>
#include <cmath>

#include "candidates.hpp"
#include "isa.hpp"
#include "parts.hpp"
#include "passes.hpp"

namespace sureshot {
namespace {

// Queries of float32 as kernels read them: zeros follow each.
class PaddedQueries {
 public:
    PaddedQueries(const float* queries, std::int64_t count, std::int64_t size)
        : count_(count),
          stride_((size + screen_lanes - 1) / screen_lanes * screen_lanes),
          values_(static_cast<std::size_t>(count * stride_)) {
        for (std::int64_t q = 0; q < count; ++q) std::copy_n(queries + q * size, size, values_.data() + q * stride_);
    }
    Asked asked() const { return {values_.data(), count_, stride_}; }

 private:
    std::int64_t count_, stride_;
    std::vector<float> values_;
};

// Calls f(thread, first, count, sums, squares) with the sums [query][arm] and, if they are wanted, the squares of the
// arms from `first` on. Sums of distances are positive.
template <class F>
void screen_by_row(Team& team, const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, bool squared,
                   const F& f) {
    const std::int64_t tables = asked.count + (squared ? 1 : 0);
    // Several queries are as long as some rows: they are read from the caches once for many of these.
    const std::int64_t together = asked.count == 1 ? rows_at_once(matrix.n_columns) : most_rows;
    const Workspaces spaces(team, tables * together);
    team.run(arms.count, asked.count * matrix.n_columns,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 double* const sums = spaces.of(thread);
                 for (std::int64_t some = begin; some < end; some += together) {
                     const Arms few{arms.ids + some, std::min(together, end - some)};
                     double* const squares = squared ? sums + asked.count * few.count : nullptr;
                     std::fill(sums, sums + tables * few.count, 0.0);
                     const bool done = in_parts(
                         team, matrix.n_columns, few.count, [&](std::int64_t from, std::int64_t to) {
                             kernels().screen_rows(matrix, metric, asked, few, from, to, sums, squares);
                         });
                     if (!done) return;
                     f(thread, some, few.count, sums, squares);
                 }
             },
             asked.count == 1 ? 1 : together / 2);
}

template <class F>
void screen_by_column(Team& team, const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, bool squared,
                      const F& f) {
    const std::int64_t tables = asked.count + (squared ? 1 : 0);
    const Workspaces spaces(team, ArmTile::most_places(arms) * 2 * tables);
    team.run(arms.count, asked.count * matrix.n_columns,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 double* const sums = spaces.of(thread);
                 for (std::int64_t arm = begin; arm < end;) {
                     const ArmTile tile(matrix, {arms.ids + arm, end - arm});
                     const std::int64_t places = tile.places.count;
                     std::fill(sums, sums + tables * places, 0.0);
                     const bool done = in_parts(
                         team, matrix.n_columns, places * tables, [&](std::int64_t from, std::int64_t to) {
                             kernels().screen_columns(matrix, metric, asked, tile.places, from, to, sums,
                                                      squared ? sums + asked.count * places : nullptr);
                         });
                     if (!done) return;
                     double* const picked = sums + tables * places;
                     for (std::int64_t table = 0; table < tables; ++table) {
                         tile.pick(sums + table * places, arms.ids + arm, picked + table * tile.count);
                     }
                     f(thread, arm, tile.count, picked, squared ? picked + asked.count * tile.count : nullptr);
                     arm += tile.count;
                 }
             },
             arms_per_thread);
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
    row_scores(team, matrix, question.metric, question.query, 1, {ids.data(), static_cast<std::int64_t>(count)},
               found.scores.data(), norms == nullptr ? nullptr : squares.data());
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
    const PaddedQueries padded(queries, n_queries, matrix.n_columns);
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
    const PaddedQueries padded(question.rounded, 1, matrix.n_columns);
    Candidates candidates(team.threads(), arms.count, wanted.k, wanted.best, wanted.n_best);
    Uncertain all = wanted.errors;
    all.unit *= sign_of(question.metric);
    Evaluated found{0, {}, {}, true};
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
        if (static_cast<double>(found.positions.size()) > wanted.share * static_cast<double>(end)) {
            found.positions.clear();
            return found;
        }
    }
    evaluate(team, matrix, question, arms, wanted, found);
    return found;
}

}  // namespace sureshot
