// The table of one instruction set.
#include "kernels.hpp"

namespace sureshot::SURESHOT_ISA {

BlockSums block_sums;
BlockTotals totals;
ColumnSums column_sums;
RowScores row_scores;
ScanRows scan_rows;
ColumnLimits column_limits;

extern const Kernels kernels;
const Kernels kernels = {block_sums, totals, column_sums, row_scores, scan_rows, column_limits};

}  // namespace sureshot::SURESHOT_ISA
