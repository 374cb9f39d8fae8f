// The kernels of one instruction set. A kernel reads memory that its caller owns, checks nothing, allocates
// nothing, throws nothing and runs on the calling thread: a Team splits the arms.
//
// Every level does the same operations in the same order, so all of them give the same bits; only those of a
// screen, which are never returned, do not. A file of
// kernels is compiled once for each level, everything in it in the namespace SURESHOT_ISA, and uses no
// template or inline function that is defined outside this namespace, not even std::min: the linker keeps
// one copy of such a function for the whole library, which may be one that this processor cannot run.
#pragma once

#include "bets.hpp"
#include "matrix.hpp"

namespace sureshot {

// sums[block * stride + arm]: the sum of the rewards of each arm over each block. squares, unless null,
// gets the sums of the squared data values in the same shape. All computed in double for every
// element type. `query` has the values in the given blocks alone, side by side: blocks.size places for each.
using BlockSums = void(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                       Blocks blocks, double* sums, std::int64_t stride, double* squares) noexcept;

// Adds the sums of at most totals_arms arms over the given blocks to what `out` has; centre and weight have
// one entry per given block, and `query` is that of block sums. `space` has room for totals_space numbers.
using BlockTotals = void(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                         Blocks blocks, const double* centre, const double* weight, Totals out,
                         double* space) noexcept;
constexpr std::int64_t totals_arms = 256;
constexpr std::int64_t totals_space = 32 * totals_arms;

// The sum of all rewards of an arm is made in lanes, computed in double: it depends on the row alone, not on
// the memory order of the matrix nor on the other arms, nor on rewards of zero that are left out: the lane of a
// reward is its coordinate modulo their number. Each of these adds the rewards of any coordinates [begin, end),
// ascending from call to call, to sums that start as zeros. Row by row sums[arm * lanes + lane], where the first lane
// is that of `begin`; column by column sums[lane * arms + arm].
constexpr std::int64_t columns_in_a_part = 256;
// At most so many rows share the values of the query while these are in registers: `side_by_side`.
constexpr std::int64_t most_rows_side_by_side = 4;
using AddRows = void(const Matrix& matrix, Metric metric, const double* query, Arms arms, std::int64_t side_by_side,
                     std::int64_t begin, std::int64_t end, double* sums) noexcept;
// The same for a query of float32, which is widened.
using AddRowsOfFloats = void(const Matrix& matrix, Metric metric, const float* query, Arms arms,
                             std::int64_t side_by_side, std::int64_t begin, std::int64_t end, double* sums) noexcept;
// The same for several queries, which share the values of a row while these are in registers: that of a column of
// [begin, end) is values[query * stride + column - begin], and to sums[(query * arms.count + arm) * lanes + lane].
struct SharedQueries {
    const double* values;
    std::int64_t count;
    std::int64_t stride;
    bool floats;  // whether all of them are numbers of float32
    std::int64_t ahead;  // columns that are fetched meanwhile are so far behind those that are read
};
using AddSharedRows = void(const Matrix& matrix, Metric metric, const SharedQueries& queries, Arms arms,
                           std::int64_t begin, std::int64_t end, double* sums) noexcept;
// Column by column only the lanes from `first` to `end`, so that threads can share the arms.
struct LaneSpan {
    std::int64_t first, end;
};
using AddColumns = void(const Matrix& matrix, Metric metric, const double* query, const Places& places, LaneSpan span,
                        std::int64_t begin, std::int64_t end, double* sums) noexcept;

// Adds some columns of coordinate-major data, one after the other, to sums[arm], without lanes; `values` are those of the
// query in these columns.
using AddChosenColumns = void(const Matrix& matrix, Metric metric, const double* values, const Places& places,
                              const std::int64_t* chosen, std::int64_t n_chosen, double* sums) noexcept;

// For at most so many arms of coordinate-major data, each of whose values comes in a cache line of its own: to
// sums[arm * lanes + lane], but only to one half of the lanes, 0 or 1, so that threads can share an arm.
constexpr std::int64_t scattered_rows = 8;
using AddHalf = void(const Matrix& matrix, Metric metric, const double* query, Arms arms, std::int64_t half,
                     std::int64_t begin, std::int64_t end, double* sums) noexcept;

// The scores from such sums.
using JoinLanes = void(const double* sums, std::int64_t n_arms, double* scores) noexcept;

// A screen: about the same scores, from sums[query][arm] and squares[arm], of the data values, unless null. Both
// start as zeros; the sums of distances are positive. What is added up in float32 before it is added to
// these is rounded as often as a lane of a panel has terms, and when the lanes are added in pairs. But for the last part, a part of the columns is a whole number of columns_in_a_part.
struct Asked {
    const float* queries;  // unless rows are screened in place, zeros follow each up to a whole number of screen_lanes
    std::int64_t count;
    std::int64_t stride;
};
constexpr std::int64_t screen_lanes = 16;
constexpr std::int64_t columns_in_a_panel = 512;
// At most so many times.
constexpr std::int64_t roundings_in_a_panel = columns_in_a_panel / screen_lanes + 4;
// Whether rows are read as they lie: others are widened, in whole numbers of lanes.
inline bool screened_in_place(const Matrix& matrix) {
    return matrix.element == Element::float32 && matrix.column_stride == 1 && matrix.n_columns >= screen_lanes;
}
using ScreenRows = void(const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, std::int64_t begin,
                        std::int64_t end, double* sums, double* squares) noexcept;
using ScreenColumns = void(const Matrix& matrix, Metric metric, const Asked& asked, const Places& places,
                           std::int64_t begin, std::int64_t end, double* sums, double* squares) noexcept;

// Inner products of rows and queries over at most product_columns columns, in float32: that of row r and query q is added
// to scores[r * stride + q], or begins it. The sums of a row and a query are made in at least fewest_product_lanes lanes,
// and these are added in pairs. The squared norms of the rows over these columns are added to squares.
struct ProductTile {
    const float* const* rows;
    std::int64_t n_rows;
    const float* queries;
    const float* next;  // queries that are multiplied next, as many: they are fetched meanwhile. May be null
    std::int64_t n_queries;
    std::int64_t query_stride;
    std::int64_t columns;
    bool begun;
    float* scores;
    std::int64_t stride;
    double* squares;
};
constexpr std::int64_t product_columns = 1024;
constexpr std::int64_t fewest_product_lanes = 4;
constexpr std::int64_t most_product_lanes = 16;
using Multiply = void(const ProductTile& tile) noexcept;

// The same over at most strip_columns columns, for many queries. They are packed in strips: of strip_queries queries, the
// values of each column side by side, zeros for queries that the last strip lacks. Rows are read up to a whole number of
// strip_rows of them. Products are added one after the other. Rows and queries may change places.
struct StripTile {
    const float* rows;
    std::int64_t row_stride;
    std::int64_t n_rows;
    const float* strips;
    std::int64_t n_queries;
    std::int64_t columns;
    bool begun;
    float* scores;
    std::int64_t stride;
    // What is read next: so many bytes from each of these on. It is fetched meanwhile.
    const char* const* next;
    std::int64_t n_next;
    std::int64_t next_bytes;
};
constexpr std::int64_t strip_queries = 16;
constexpr std::int64_t strip_columns = 512;
constexpr std::int64_t strip_rows = 12;  // which suits the kernels of all levels
// Copies of rows lie so far apart: no power of two, so that they do not share lines of the caches.
constexpr std::int64_t strip_row_stride = strip_columns + 16;
using MultiplyStrips = void(const StripTile& tile) noexcept;
// Packs some columns of at most strip_queries queries.
using PackStrip = void(const float* queries, std::int64_t count, std::int64_t stride, std::int64_t columns,
                       float* strip) noexcept;
// Adds the squared norms of such rows over their columns to squares.
using AddSquares = void(const float* rows, std::int64_t n_rows, std::int64_t columns, double* squares) noexcept;

// The largest absolute value of a query and the sum of its squares; and the values times a unit, rounded, with the sum of
// the squares of the exact ones and of what rounding has lost, and the largest loss.
struct QuerySize {
    double largest;
    double square;
};
struct QueryRounding {
    double square;
    double loss;
    double largest_loss;
};
template <class Query>
using MeasureQuery = QuerySize(const Query* query, std::int64_t count) noexcept;

// Whether no value is infinite or NaN.
template <class Value>
using AreFinite = bool(const Value* values, std::int64_t count) noexcept;

// The sum of (query[at] / whole)^2.
template <class Query>
using SquaredShares = double(const Query* query, std::int64_t count, double whole) noexcept;
template <class Query, class Value>
using RoundQuery = QueryRounding(const Query* query, std::int64_t count, double unit, Value* values) noexcept;

// The columns [begin, end) of some arms as floats, or as doubles, those of one arm `stride` after those of the other.
template <class Number>
using WidenRows = void(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end, Number* values,
                       std::int64_t stride) noexcept;

// reach[arm] = max_j |value - middle[j]| * unit[j], where a NaN is passed over, and the squared norm of each
// arm, which a NaN makes NaN, in sums as above: both start as zeros.
using ScanRows = void(const Matrix& matrix, const double* middle, const double* unit, Arms arms,
                      std::int64_t begin, std::int64_t end, double* reach, double* sums) noexcept;
using ScanColumns = void(const Matrix& matrix, const double* middle, const double* unit,
                         const Places& places, std::int64_t begin, std::int64_t end, double* reach,
                         double* sums) noexcept;

// low[j] and high[j]: the smallest and the largest value of the given arms at the coordinates j in
// [begin, end). A NaN is passed over; without a number low is infinite and high minus infinite.
using ColumnLimits = void(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end,
                          double* low, double* high) noexcept;

// Bets on up to a group of consecutive steps of some arms, and updates their running sums. sums[s] and
// squares[s], which only norm bets need, have the block sums of step s. The bets go to the places from
// `slot` on.
using PlaceBets = void(const Step* steps, const BetRules& rules, const double* const* sums,
                       const double* const* squares, std::int64_t count, std::int64_t slot,
                       RunningSums& running, Placed& placed) noexcept;

// Puts placed bets into the group of each arm and sign.
using KeepBets = void(const Placed& placed, Group* const* groups, std::int64_t arms,
                      std::int64_t signs, std::int64_t slot, std::int64_t count) noexcept;

// Estimates the sums of all rewards of some arms, and the standard errors of these estimates, from their
// running sums, when `left` is the weight not yet drawn, and `rest` the sum of the centres of those blocks.
using Estimate = void(const RunningSums& running, const BetRules& rules, double left, double rest,
                      double* sums, double* errors) noexcept;

// Replays the bets in `count` groups of a chain from the group `first` on, and multiplies the wealth of the
// groups before by theirs. Returns infinity if the wealth reaches the level at the end of some group, else
// about its logarithm to the base 2 at the end. `last` becomes the last group that was replayed.
using LogWealth = double(const Chains& chains, std::uint32_t first, std::int64_t count,
                         const Replay& replay, Wealth& wealth, std::uint32_t& last) noexcept;

// Gives bets the room that a larger limit of y leaves them.
using RaiseRooms = void(Group& group, double by) noexcept;

// Scores of some arms for some queries: that of arm a for query q is scores[a * stride + q].
template <class Score>
struct ScoreTable {
    const Score* scores;
    std::int64_t stride;
    std::int64_t arms, queries;  // at most arms_reaching and queries_reaching
    bool both_signs;             // whether the absolute values count
};

// A score can be among the best unless it is below threshold * of_threshold + unit * of_unit + length * of_length
// - slack: factors of the query and of the arm. One that is no number can.
template <class Score>
struct QueryCuts {
    const Score *threshold, *unit, *length, *slack;

    QueryCuts from(std::int64_t query) const {
        return {threshold + query, unit + query, length + query, slack + query};
    }
};
template <class Score>
struct ArmCuts {
    const Score *of_threshold, *of_unit, *of_length;

    ArmCuts from(std::int64_t arm) const { return {of_threshold + arm, of_unit + arm, of_length + arm}; }
};

// Fills `out` with the arms and queries whose scores can be among the best, in the order of the arms, and returns
// how many there are.
constexpr std::int64_t arms_reaching = 8, queries_reaching = 512;
struct Reaching {
    std::int32_t arm[arms_reaching * queries_reaching];
    std::int32_t query[arms_reaching * queries_reaching];
};
template <class Score>
using FindReaching = std::int64_t(const ScoreTable<Score>& table, const ArmCuts<Score>& arms,
                                  const QueryCuts<Score>& queries, Reaching& out) noexcept;

// The arm of any number of them, below 2^24, that has about the largest scale * score + unit * offset of each query.
template <class Score>
using FindLargest = void(const ScoreTable<Score>& table, const Score* scales, const Score* offsets, const Score* units,
                         std::int32_t* arms) noexcept;

// For each query a number that at least k of few arms reach with scale * score + unit * offset, up to rounding, and
// nearly the largest such number. It means nothing where a score is not finite.
constexpr std::int64_t few_arms = 256;
template <class Score>
using FindRanked = void(const ScoreTable<Score>& table, const Score* scales, const Score* offsets, const Score* units,
                        std::int64_t k, Score* ranked) noexcept;

// Scores of some arms, as they are ranked: `scale` times a sum, or times its absolute value. The sum is `unit` times
// what was added up, and off by at most fixed + of_root * sqrt(square) + of_score * |sum|; without squares the size
// of the sum is taken in their place. One entry per arm.
struct Uncertain {
    const double* sums;
    const double* squares;  // may be null
    const double* scale;    // may be null: 1 for each
    const double* norms;    // may be null; a score is unknown unless the square is that of such a norm,
    double leeway;          // up to this much of it
    std::int64_t count;
    bool absolute;
    double unit, fixed, of_root, of_score;
};

// Fills in both ends of at most ends_at_once scores, infinite where one of them is no finite number, and returns how
// many of the upper ends are not below the threshold.
constexpr std::int64_t ends_at_once = 256;
struct Ends {
    double lower[ends_at_once];
    double upper[ends_at_once];
};
using FindEnds = std::int64_t(const Uncertain& scores, double threshold, Ends& out) noexcept;

// What is added up of a query: |value| * by, value^2 or value * by, with one factor for each coordinate or for all of
// them. Its blocks are those of `Blocks`, of all `count` coordinates.
enum class QueryTerm { absolute, square, product };
struct QueryTerms {
    QueryTerm term;
    const double* doubles;  // the query, or null
    const float* floats;    // if null
    const double* by;
    bool each;
    std::int64_t count, size, shift;
};

// Fills sums[begin, end) with the sums of these blocks, and `sizes`, from its start, with those of the absolute terms.
using QuerySums = void(const QueryTerms& terms, std::int64_t begin, std::int64_t end, double* sums,
                       double* sizes) noexcept;

struct Kernels {
    BlockSums* block_sums;
    BlockTotals* totals;
    AddRows* add_rows;
    AddRowsOfFloats* add_rows_of_floats;
    AddSharedRows* add_shared_rows;
    AddColumns* add_columns;
    AddChosenColumns* add_chosen_columns;
    AddHalf* add_half;
    JoinLanes* join_rows;
    JoinLanes* join_columns;
    ScreenRows* screen_rows;
    ScreenColumns* screen_columns;
    Multiply* multiply;
    MultiplyStrips* multiply_strips;
    PackStrip* pack_strip;
    AddSquares* add_squares;
    WidenRows<float>* widen_rows;
    WidenRows<double>* widen_rows_to_doubles;
    MeasureQuery<float>* measure_floats;
    MeasureQuery<double>* measure_doubles;
    AreFinite<float>* finite_floats;
    AreFinite<double>* finite_doubles;
    SquaredShares<float>* squared_shares_of_floats;
    SquaredShares<double>* squared_shares_of_doubles;
    RoundQuery<float, float>* floats_to_floats;
    RoundQuery<float, double>* floats_to_doubles;
    RoundQuery<double, float>* doubles_to_floats;
    RoundQuery<double, double>* doubles_to_doubles;
    ScanRows* scan_rows;
    ScanColumns* scan_columns;
    ColumnLimits* column_limits;
    PlaceBets* place_bets;
    KeepBets* keep_bets;
    Estimate* estimate;
    LogWealth* log_wealth;
    RaiseRooms* raise_rooms;
    FindReaching<float>* reaching_floats;
    FindReaching<double>* reaching_doubles;
    FindLargest<float>* largest_floats;
    FindLargest<double>* largest_doubles;
    FindRanked<float>* ranked_floats;
    FindRanked<double>* ranked_doubles;
    FindEnds* ends;
    QuerySums* query_sums;
};

}  // namespace sureshot
