// Reading drawn steps of some arms, and betting on them.
//
// Blocks are read in address order and bet on in drawn order: a thread reads the block sums of some arms over
// a batch of steps into a table that stays in the caches, and then bets from there.
#pragma once

#include <cstdint>

#include "ledger.hpp"
#include "matrix.hpp"
#include "order.hpp"
#include "query_values.hpp"
#include "team.hpp"

namespace sureshot {

// The data of the searched arms, read by the kernels.
struct ArmData {
    Matrix matrix;
    Metric metric;
    QueryValues query;
    Blocks blocks;             // their size and shift
    const std::int64_t* arms;  // the row of each position
};

// What a round met. Positions are -1 where there is none.
struct Met {
    double largest = 0.0;       // |y|, or y if only that is limited
    std::int64_t broken = -1;   // the first arm with a block sum that is not a finite number
    std::int64_t outside = -1;  // the first arm beyond its limit

    void add(const Met& other);
};

// Both read the steps [start, stop), which must be recorded, of arms that have read exactly the steps before.
// They throw Cancelled and std::bad_alloc.
Met read(Ledger& ledger, Team& team, const ArmData& data, const Order& order, const std::int64_t* positions,
         std::int64_t count, std::int64_t start, std::int64_t stop);
// From block sums that the caller has computed, and for norm bets the sums of squares: [step][arm].
Met add(Ledger& ledger, Team& team, const double* sums, const double* squares, const std::int64_t* positions,
        std::int64_t count, std::int64_t start, std::int64_t stop);

// Draws and records the steps up to `stop`, with this guess of the final threshold, and reads them of all active
// arms, each of which has read what was drawn before.
Met read_on(Ledger& ledger, Team& team, const ArmData& data, Order& order, const double* centre, std::int64_t stop,
            double guess, bool stakes);

}  // namespace sureshot
