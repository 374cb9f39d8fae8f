// Exact scores of whole rows in float64. The order of every sum is fixed by the width of the rows alone: a thread
// adds its columns of a piece, a warp its threads by halves and its pieces in order, the row its warps by halves.

constexpr int UNIT = THREADS * ELEMENTS;                        // columns that a block of threads reads at once

struct Coordinates { QUERY x[ELEMENTS]; };

__device__ __forceinline__ Coordinates coordinates(const QUERY* q, int column, int width) {
    Coordinates c;
    if (ALIGNED) {
        constexpr int LOADS = sizeof(Coordinates) / 16;
        #pragma unroll
        for (int i = 0; i < LOADS; i++) reinterpret_cast<uint4*>(&c)[i] = __ldg(reinterpret_cast<const uint4*>(q + column) + i);
    } else {
        #pragma unroll
        for (int e = 0; e < ELEMENTS; e++) c.x[e] = column + e < width ? q[column + e] : (QUERY)0;
    }
    return c;
}

// One term more of a score.
__device__ __forceinline__ double plus(double sum, double v, QUERY x) {
    if (METRIC == SQUARED_DISTANCE) {
        const double difference = (double)x - v;
        return sum + difference * difference;
    }
    // The product of a float32 query is exact, so that a fused operation rounds as two do.
    return sizeof(QUERY) == 4 ? fma(v, (double)x, sum) : sum + v * (double)x;
}

__device__ __forceinline__ void add_chunks(double* sum, const uint4* rows, const QUERY* q, int column, int width) {
    const Coordinates c = coordinates(q, column, width);
    #pragma unroll
    for (int e = 0; e < ELEMENTS; e++)
        #pragma unroll
        for (int j = 0; j < TOGETHER; j++) sum[j] = plus(sum[j], element(rows[j], e), c.x[e]);
}

// Of four sums of each lane: lane 16 a + 8 b, and those after it, get that of row 2 a + b over the warp, by halves.
__device__ __forceinline__ double sum_of_lanes(double* sum) {
    #pragma unroll
    for (int h = 2; h; h >>= 1) {
        const bool upper = lane_of() & (8 * h);
        #pragma unroll
        for (int j = 0; j < h; j++) {
            const double sent = upper ? sum[j] : sum[j + h], kept = upper ? sum[j + h] : sum[j];
            sum[j] = kept + __shfl_xor_sync(ALL_LANES, sent, 8 * h);
        }
    }
    double s = sum[0];
    #pragma unroll
    for (int o = 4; o; o >>= 1) s += __shfl_xor_sync(ALL_LANES, s, o);
    return s;
}

// The sums of a warp over units [begin, end) of four rows.
__device__ __forceinline__ double piece_sum(const Params& p, const ROW* const* row, const QUERY* q, int begin, int end) {
    double sum[TOGETHER] = {0.0, 0.0, 0.0, 0.0};
    int column = begin * UNIT + threadIdx.x * ELEMENTS;
    const int stop = (int)min((long long)p.width, (long long)end * UNIT);
    for (; column + UNIT < stop; column += 2 * UNIT) {
        uint4 a[TOGETHER], b[TOGETHER];
        #pragma unroll
        for (int j = 0; j < TOGETHER; j++) { a[j] = chunk_of(row[j], column, p.width); b[j] = chunk_of(row[j], column + UNIT, p.width); }
        add_chunks(sum, a, q, column, p.width);
        add_chunks(sum, b, q, column + UNIT, p.width);
    }
    if (column < stop) {
        uint4 a[TOGETHER];
        #pragma unroll
        for (int j = 0; j < TOGETHER; j++) a[j] = chunk_of(row[j], column, p.width);
        add_chunks(sum, a, q, column, p.width);
    }
    return sum_of_lanes(sum);
}
__device__ __forceinline__ int row_of_lane() { return lane_of() >> 4 << 1 | (lane_of() >> 3 & 1); }

// The sum over 16 neighbouring lanes, by halves.
__device__ __forceinline__ double sum_of_warps(double s) {
    #pragma unroll
    for (int o = 8; o; o >>= 1) s += __shfl_xor_sync(ALL_LANES, s, o);
    return s;
}

__device__ __forceinline__ int row_at(const Params& p, int position) { return p.rows ? __ldg(p.rows + position) : position; }

// What a row is ranked by.
__device__ __forceinline__ double score_of(const Params& p, double sum, int row) {
    if (METRIC == SQUARED_DISTANCE) return -sum;
    if (METRIC == COSINE) {
        const double square = p.square[row];
        return square > 0.0 ? sum / sqrt(square) : 0.0;
    }
    const double size = METRIC == ABSOLUTE ? fabs(sum) : sum;
    return p.factor ? size * p.factor[row] : size;
}

struct List {                         // of positions in any memory, `stride` words apart; null: 0, 1, 2, ...
    const int* at;
    int stride, count;
    __device__ __forceinline__ int position(int i) const { return at ? at[(size_t)i * stride] : i; }
};

__device__ __forceinline__ void rows_of_group(const Params& p, const List& list, int group, const ROW** row) {
    #pragma unroll
    for (int j = 0; j < TOGETHER; j++) {
        const int position = list.position(min(group * TOGETHER + j, list.count - 1));
        row[j] = p.data + (size_t)row_at(p, position) * p.stride;
    }
}
