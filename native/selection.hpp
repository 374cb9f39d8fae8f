// The arms that can be among the k best of several queries, found from scores that are known up to an error.
// Every score is compared with one number, so that nearly all of them cost no more than that.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "largest.hpp"
#include "team.hpp"

namespace sureshot {

class Selection {
public:
    // Of each query at most `most` arms are kept, at least 2 k: a query that needs more is given up.
    Selection(std::int64_t queries, std::int64_t k, std::int64_t most);

    // Takes the scores of the arms from `first` on: those of query q from scores + q * stride on. Throws
    // Cancelled.
    template <class Score>
    void add(Team& team, const Score* scores, std::int64_t stride, std::int64_t first, const ScoreErrors& errors,
             const double* units, const double* lengths);

    std::int64_t queries() const { return static_cast<std::int64_t>(own_.size()); }
    bool given_up(std::int64_t query) const { return own_[static_cast<std::size_t>(query)].given_up; }
    // Every arm that can be among the k best, ascending.
    std::vector<std::int64_t> candidates(std::int64_t query) const;

private:
    struct Candidate {
        std::int64_t arm;
        double high;
    };
    // The k best low ends, and the arms whose high end was not below the last of these when they came.
    struct Query {
        Largest lows;
        std::vector<Candidate> kept;
        bool given_up = false;
    };

    void take(Query& query, const Reaching& reaching, std::int64_t count, std::int64_t first) noexcept;
    void forget_beaten(Query& query) const noexcept;

    std::size_t most_;
    std::vector<Query> own_;
};

}  // namespace sureshot
