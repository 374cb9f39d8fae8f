// The kernels of one instruction set. Every one reads somebody else's memory, checks nothing, allocates
// nothing, throws nothing and runs on the calling thread: a Team splits the arms.
//
// Every level does the same operations in the same order, so all of them give the same bits. A file of
// kernels is compiled once for each level, everything in it in the namespace SURESHOT_ISA, and uses no
// template or inline function of anybody else, not even std::min: the linker keeps one copy of such a
// function for the whole library, which may be one that this processor cannot run.
#pragma once

#include "bets.hpp"
#include "matrix.hpp"

namespace sureshot {

// sums[block * stride + arm]: the sum of the rewards of each arm over each block. squares, unless null,
// gets the sums of the squared data values in the same shape. All computed in double whatever the
// element type.
using BlockSums = void(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                       Blocks blocks, double* sums, std::int64_t stride, double* squares) noexcept;

// Sums each arm over all the given blocks; centre and weight have one entry per given block.
using BlockTotals = void(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                         Blocks blocks, const double* centre, const double* weight,
                         Totals out) noexcept;

// scores[arm]: the sum of all rewards of each arm, computed in double. It depends on the row alone, not
// on the memory order of the matrix nor on the other arms. squares, unless null, gets the squared norm of
// each arm, as independent, in the same pass; the metric is then the inner product.
using RowScores = void(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                       double* scores, double* squares) noexcept;

// The same scores of a few arms of coordinate-major data, in two steps, since each of their values comes in
// a cache line of its own: sums[arm * lanes + lane] for the halves of these rows of sums from `begin` to
// `end`, so that threads can share an arm; and from these the scores. Likewise the squares.
using HalfSums = void(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                      std::int64_t begin, std::int64_t end, double* sums, double* squares) noexcept;
using JoinLanes = void(const double* sums, std::int64_t n_arms, double* scores) noexcept;

// reach[arm] = max_j |value - middle[j]| * unit[j], where a NaN is passed over, and squares[arm] =
// sum_j value^2, which a NaN makes NaN. Computed in double, and as independent as row_scores.
using ScanRows = void(const Matrix& matrix, const double* middle, const double* unit, Arms arms,
                      double* reach, double* squares) noexcept;

// low[j] and high[j]: the smallest and the largest value of the given arms at the coordinates j in
// [begin, end). A NaN is passed over; without a number low is infinite and high minus infinite.
using ColumnLimits = void(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end,
                          double* low, double* high) noexcept;

// Bets on up to a group of consecutive steps of a tile of arms, and updates the tile's sums. sums[s] and
// squares[s], which only norm bets need, have the block sums of step s. The bets go to the places from
// `slot` on.
using PlaceBets = void(const Step* steps, const Terms& terms, const double* const* sums,
                       const double* const* squares, std::int64_t count, std::int64_t slot, Tile& tile,
                       Placed& placed) noexcept;

// Puts placed bets into the group of each arm and sign.
using KeepBets = void(const Placed& placed, Group* const* groups, std::int64_t arms,
                      std::int64_t signs, std::int64_t slot, std::int64_t count) noexcept;

// Estimates the sums of the rewards of a tile's arms and the standard errors of that, from what they
// have read when `left` is the weight not yet drawn, and `rest` the centres of those blocks.
using Estimate = void(const Tile& tile, const Terms& terms, double left, double rest, double* sums,
                      double* errors) noexcept;

// Replays the bets in the next groups of a chain, to which `replay` belongs, with the wealth of those
// before: infinite if it reaches the level at the end of some group, else about its logarithm to the base
// 2 at the end. `last` becomes the last group that was replayed.
using LogWealth = double(const Chains& chains, std::uint32_t first, std::int64_t count,
                         const Replay& replay, Wealth& wealth, std::uint32_t& last) noexcept;

// Bets with a larger limit have more room.
using RaiseRooms = void(Group& group, double by) noexcept;

struct Kernels {
    BlockSums* block_sums;
    BlockTotals* totals;
    RowScores* row_scores;
    HalfSums* half_sums;
    JoinLanes* join_lanes;
    ScanRows* scan_rows;
    ColumnLimits* column_limits;
    PlaceBets* place_bets;
    KeepBets* keep_bets;
    Estimate* estimate;
    LogWealth* log_wealth;
    RaiseRooms* raise_rooms;
};

}  // namespace sureshot
