// Scores of rows that a block of threads would read at once: here each warp has four of them, and adds each up in the
// same order as the sixteen warps of a block would.

// The sum over these warps, by halves; those beyond the end of a row have added nothing.
__device__ __forceinline__ double fold_of_warps(double* s) {
    #pragma unroll
    for (int h = WARPS / 2; h; h >>= 1)
        #pragma unroll
        for (int w = 0; w < h; w++) s[w] = s[w] + s[w + h];
    return s[0];
}

// Lane 16 a + 8 b, and those after it, get the sum of row 2 a + b.
__device__ __forceinline__ double short_sum(const Params& p, const ROW* const* row, const QUERY* q) {
    double s[WARPS];
    #pragma unroll
    for (int w = 0; w < WARPS; w++) {
        s[w] = 0.0;
        if (w * 32 * ELEMENTS >= p.width) continue;             // the same for all lanes
        const int column = (w * 32 + lane_of()) * ELEMENTS;
        double sum[TOGETHER] = {0.0, 0.0, 0.0, 0.0};
        if (column < p.width) {
            uint4 read[TOGETHER];
            #pragma unroll
            for (int j = 0; j < TOGETHER; j++) read[j] = chunk_of(row[j], column, p.width);
            add_chunks(sum, read, q, column, p.width);
        }
        s[w] = s[w] + sum_of_lanes(sum);
    }
    return fold_of_warps(s);
}

// take(index, sum) for every index of the list.
template <typename Take> __device__ __forceinline__ void add_short_rows(const Params& p, const List& list, const QUERY* q, const Take& take) {
    const int groups = (list.count + TOGETHER - 1) / TOGETHER;
    for (int group = blockIdx.x * WARPS + warp_of(); group < groups; group += p.grid * WARPS) {
        const ROW* row[TOGETHER];
        rows_of_group(p, list, group, row);
        const double sum = short_sum(p, row, q);
        const int index = group * TOGETHER + row_of_lane();
        if ((lane_of() & 7) == 0 && index < list.count) take(index, sum);
    }
}
