// The table of one instruction set.
#include "kernels.hpp"

namespace sureshot::SURESHOT_ISA {

BlockSums block_sums;
BlockTotals totals;
RowScores row_scores;
HalfSums half_sums;
JoinLanes join_lanes;
ScanRows scan_rows;
ColumnLimits column_limits;
PlaceBets place_bets;
KeepBets keep_bets;
Estimate estimate;
LogWealth log_wealth;
RaiseRooms raise_rooms;

extern const Kernels kernels;
const Kernels kernels = {block_sums,    totals,     row_scores, half_sums, join_lanes, scan_rows,
                         column_limits, place_bets, keep_bets,  estimate,  log_wealth, raise_rooms};

}  // namespace sureshot::SURESHOT_ISA
