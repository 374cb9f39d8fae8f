// The arms that can be among the k best of several queries, found from scores that are known up to an error.
// Every score is compared with one number, so that nearly all of them cost no more than that.
#pragma once

#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "kernels.hpp"
#include "team.hpp"

namespace sureshot {

// Scores of some arms that are known up to an error, of which a computed number is the main part. With x that number
// plus unit * offset, the score of a query lies within unit * fixed + length * factor of scale * x; if both signs
// count, of scale * |x|, and there are no offsets. One entry per arm.
struct ScoreErrors {
    const double* offset;
    const double* scale;
    const double* fixed;
    const double* factor;
    std::int64_t count;
    bool both_signs;
};

// The arms that are left of each query: those of query q are arms[starts[q]], ..., arms[starts[q + 1] - 1].
struct Left {
    std::vector<std::int64_t> arms;
    std::vector<std::int64_t> starts;
};

class Selection {
public:
    // One unit and one length for each query. Of each query at most `most` arms are kept, at least 2 k: a query
    // that needs more is given up.
    Selection(std::vector<double> units, std::vector<double> lengths, std::int64_t k, std::int64_t most);

    // Takes the scores of the arms from `first` on: that of arm a for query q is scores[a * stride + q]. Throws
    // Cancelled.
    template <class Score>
    void add(Team& team, const Score* scores, std::int64_t stride, std::int64_t first, const ScoreErrors& errors);

    std::int64_t queries() const { return static_cast<std::int64_t>(own_.size()); }
    // Every arm that can be among the k best, ascending; none for a query that was given up. Throws Cancelled.
    Left candidates(Team& team);

private:
    struct Candidate {
        std::int64_t arm;
        double low, high;
    };
    // The arms whose high end was not below the threshold when they came, and the threshold: the k-th best low end of
    // those that had come when the list was last full. To choose among many now and then costs less than to
    // keep the k best at every moment.
    struct Query {
        Candidate* kept;  // room for most_
        std::size_t count = 0;
        std::size_t full;
        double threshold;
        bool given_up = false;
    };
    // What the scores of a tile of arms are compared with, in the precision of the scores: see FindReaching.
    template <class Score>
    struct Cuts {
        std::vector<Score> threshold, unit, length, slack;  // of each query
        std::vector<Score> of_threshold, of_unit, of_length;  // of each arm
        std::vector<Score> scale, offset;                     // of the first arms, if they begin the selection
        double most_of_threshold, most_of_unit, most_of_length;
        double most_fixed, most_factor;  // of the errors of the arms
    };

    template <class Score>
    Cuts<Score> cuts_of(const ScoreErrors& errors) const;
    template <class Score>
    void set_cut(Cuts<Score>& cuts, std::size_t query) const noexcept;
    // Gives some queries a first threshold, from the scores of some arms in 2 k groups: that of the k-th best of those
    // that seem best in their group. They differ, so k arms have scores that are as high.
    template <class Score>
    void set_first_thresholds(const Score* scores, std::int64_t stride, const ScoreErrors& errors, Cuts<Score>& cuts,
                              std::int64_t begin, std::int64_t end) noexcept;
    // The same from the scores of few arms: where the k-th best of them lies, less the largest error. It may be a little
    // too high, so it counts only if `confirmed` finds afterwards that k arms reach it.
    template <class Score>
    void guess_thresholds(const Score* scores, std::int64_t stride, const ScoreErrors& errors, Cuts<Score>& cuts,
                          std::int64_t begin, std::int64_t end) noexcept;
    bool confirmed(const Query& query) const noexcept;
    // An arm with the ends that the score of a query lies between.
    template <class Score>
    Candidate candidate(std::size_t query, Score score, std::int64_t arm, const ScoreErrors& errors) const noexcept;
    // Raises the threshold to the k-th best low end of those that are kept.
    void raise(Query& query) const noexcept;
    // Takes one score; returns whether the threshold of the query has changed.
    template <class Score>
    bool take(Query& query, std::size_t at, Score score, std::int64_t arm, std::int64_t first,
              const ScoreErrors& errors) noexcept;
    // Finds the threshold, and drops what it leaves out.
    void drop(Query& query) const noexcept;

    std::size_t k_, most_;
    std::vector<double> units_, lengths_;
    Room<Candidate> room_;
    std::vector<Query> own_;
    bool begun_ = false;
};

}  // namespace sureshot
