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

// Few rows, each in pieces by many blocks of threads. True in the last of them, where sm has all scores.
__device__ bool evaluate_few(const Params& p, Work* work, int query, const List list, int first, int* queue, int beginners,
                             int* arrived, Merge& sm) {
    const int groups = (list.count + TOGETHER - 1) / TOGETHER, items = groups * p.pieces;
    const QUERY* q = p.query + (size_t)query * p.query_stride;
    double* partial = p.partial + (size_t)query * p.few * p.pieces * WARPS;
    const int units = (p.width + UNIT - 1) / UNIT;
    int done = 0, item = first;
    while (true) {
        if (item < 0) {                                         // what those that begin later leave
            __syncthreads();
            if (threadIdx.x == 0) sm.flag = beginners + atomicAdd(queue, 1);
            __syncthreads();
            item = sm.flag;
        }
        if (item >= items) break;
        int next = 0;
        if (queue && threadIdx.x == 0) next = beginners + atomicAdd(queue, 1);   // on its way while this is read
        const int group = item / p.pieces, piece = item - group * p.pieces;
        const ROW* row[TOGETHER];
        rows_of_group(p, list, group, row);
        const double s = piece_sum(p, row, q, piece * p.piece, min(units, (piece + 1) * p.piece));
        const int index = group * TOGETHER + row_of_lane();
        if ((lane_of() & 7) == 0 && index < list.count) __stcg(partial + ((size_t)index * p.pieces + piece) * WARPS + warp_of(), s);
        done++;
        if (queue) {
            __syncthreads();
            if (threadIdx.x == 0) sm.flag = next;
            __syncthreads();
            item = sm.flag;
        } else item += p.grid;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int last = items == 0 && blockIdx.x == 0;
        if (done) { __threadfence(); last = atomicAdd(arrived, done) + done == items; }
        if (last) __threadfence();
        sm.flag = last;
    }
    __syncthreads();
    if (!sm.flag) return false;
    const int w = threadIdx.x & (WARPS - 1);
    for (int begin = 0; begin < list.count; begin += THREADS / WARPS) {
        const int index = begin + threadIdx.x / WARPS;
        double s = 0.0;
        if (index < list.count) {
            #pragma unroll 8
            for (int i = 0; i < p.pieces; i++) s += __ldcg(partial + ((size_t)index * p.pieces + i) * WARPS + w);
        }
        s = sum_of_warps(s);
        if (w == 0 && index < list.count) {
            const int position = list.position(index);
            const double score = score_of(p, s, row_at(p, position));
            sm.score[index] = score;
            sm.arm[index] = position;
            if (!isfinite(score)) work->bad_score = p.epoch;
            p.mark[(size_t)query * p.n + position] = (int)p.epoch;
        }
    }
    __syncthreads();
    return true;
}

// Many rows, each by one block of threads: scores that reach the threshold go to the list. True in the last one.
__device__ bool evaluate_many(const Params& p, Work* work, int query, const List list, int* queue, int* arrived, Merge& sm) {
    const int groups = (list.count + TOGETHER - 1) / TOGETHER, units = (p.width + UNIT - 1) / UNIT;
    const QUERY* q = p.query + (size_t)query * p.query_stride;
    const double tau = fresh(work->tau);
    int group = blockIdx.x;
    while (group < groups) {
        int next = 0;
        if (threadIdx.x == 0) next = p.grid + atomicAdd(queue, 1);
        const ROW* row[TOGETHER];
        rows_of_group(p, list, group, row);
        double s = 0.0;
        for (int piece = 0; piece < p.pieces; piece++) s += piece_sum(p, row, q, piece * p.piece, min(units, (piece + 1) * p.piece));
        __syncthreads();
        if (threadIdx.x == 0) sm.flag = next;
        if ((lane_of() & 7) == 0) sm.sums[warp_of()][row_of_lane()] = s;
        __syncthreads();
        const int following = sm.flag;
        if (threadIdx.x < WARPS * TOGETHER) {                   // two warps, sixteen lanes for a row
            const int w = threadIdx.x & (WARPS - 1), j = threadIdx.x / WARPS, index = group * TOGETHER + j;
            const double sum = sum_of_warps(sm.sums[w][j]);
            if (w == 0 && index < list.count) {
                const int position = list.position(index);
                const double score = score_of(p, sum, row_at(p, position));
                if (!isfinite(score)) work->bad_score = p.epoch;
                if (score >= tau && __ldcg(p.mark + (size_t)query * p.n + position) != (int)p.epoch) {
                    const int at = atomicAdd(&work->found, 1);
                    p.best_arm[(size_t)query * p.best_capacity + at] = position;
                    p.best_score[(size_t)query * p.best_capacity + at] = score;
                    __threadfence();
                }
            }
        }
        group = following;
    }
    return last_to_arrive(arrived, p.grid, &sm.flag);
}
