// The table of one instruction set.
#include "kernels.hpp"

namespace sureshot::SURESHOT_ISA {

BlockSums block_sums;
BlockTotals totals;
AddRows add_rows;
AddRowsOfFloats add_rows_of_floats;
AddSharedRows add_shared_rows;
AddColumns add_columns;
AddChosenColumns add_chosen_columns;
AddHalf add_half;
JoinLanes join_rows;
JoinLanes join_columns;
ScreenRows screen_rows;
ScreenColumns screen_columns;
Multiply multiply;
MultiplyStrips multiply_strips;
PackStrip pack_strip;
AddSquares add_squares;
WidenRows<float> widen_rows;
WidenRows<double> widen_rows_to_doubles;
MeasureQuery<float> measure_floats;
MeasureQuery<double> measure_doubles;
AreFinite<float> finite_floats;
AreFinite<double> finite_doubles;
SquaredShares<float> squared_shares_of_floats;
SquaredShares<double> squared_shares_of_doubles;
RoundQuery<float, float> floats_to_floats;
RoundQuery<float, double> floats_to_doubles;
RoundQuery<double, float> doubles_to_floats;
RoundQuery<double, double> doubles_to_doubles;
ScanRows scan_rows;
ScanColumns scan_columns;
ColumnLimits column_limits;
PlaceBets place_bets;
KeepBets keep_bets;
Estimate estimate;
LogWealth log_wealth;
RaiseRooms raise_rooms;
FindReaching<float> reaching_floats;
FindReaching<double> reaching_doubles;
FindLargest<float> largest_floats;
FindLargest<double> largest_doubles;
FindRanked<float> ranked_floats;
FindRanked<double> ranked_doubles;
FindEnds ends;
QuerySums query_sums;

extern const Kernels kernels;
const Kernels kernels = {block_sums,    totals,        add_rows,        add_rows_of_floats, add_shared_rows, add_columns,
                         add_chosen_columns, add_half,
                         join_rows,     join_columns,  screen_rows,     screen_columns,   multiply,
                         multiply_strips, pack_strip,  add_squares,
                         widen_rows,    widen_rows_to_doubles, measure_floats, measure_doubles, finite_floats, finite_doubles, squared_shares_of_floats, squared_shares_of_doubles,
                         floats_to_floats, floats_to_doubles,
                         doubles_to_floats, doubles_to_doubles, scan_rows, scan_columns, column_limits,
                         place_bets,    keep_bets,     estimate,        log_wealth,       raise_rooms,
                         reaching_floats, reaching_doubles, largest_floats, largest_doubles,
                         ranked_floats, ranked_doubles, ends, query_sums};

}  // namespace sureshot::SURESHOT_ISA
