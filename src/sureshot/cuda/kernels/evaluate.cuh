// Scores of lists of rows.

__device__ __forceinline__ int units_of(const Params& p) { return (p.width + UNIT - 1) / UNIT; }

// The sums of a piece of four rows, one for each warp, where `sum_of_pieces` finds them.
__device__ __forceinline__ void add_piece(const Params& p, const List& list, const QUERY* q, double* partial, int group, int piece) {
    const ROW* row[TOGETHER];
    rows_of_group(p, list, group, row);
    const double s = piece_sum(p, row, q, piece * p.piece, min(units_of(p), (piece + 1) * p.piece));
    const int index = group * TOGETHER + row_of_lane();
    if ((lane_of() & 7) == 0 && index < list.count) __stcg(partial + ((size_t)index * p.pieces + piece) * WARPS + warp_of(), s);
}

// The sums of ROWS rows, `apart` each from the next, by sixteen lanes that have a warp's pieces each: at most MOST of a row.
template <int ROWS, int MOST> __device__ __forceinline__ void sums_of_pieces(const Params& p, const double* partial, int index, int apart, int count, double* sum) {
    const int w = threadIdx.x & (WARPS - 1);
    double part[ROWS][MOST];                                    // all on their way together
    #pragma unroll
    for (int r = 0; r < ROWS; r++)
        #pragma unroll
        for (int i = 0; i < MOST; i++)
            part[r][i] = index + r * apart < count && i < p.pieces ? __ldcg(partial + ((size_t)(index + r * apart) * p.pieces + i) * WARPS + w) : 0.0;
    #pragma unroll
    for (int r = 0; r < ROWS; r++) {
        double s = 0.0;
        #pragma unroll
        for (int i = 0; i < MOST; i++) s += part[r][i];
        sum[r] = sum_of_warps(s);
    }
}

// The scores of few rows from the sums of their pieces, to sm.
template <int ROWS> __device__ __forceinline__ void add_pieces(const Params& p, Work* work, int query, const List& list, const double* partial, Merge& sm) {
    constexpr int APART = THREADS / WARPS;
    const bool writes = (threadIdx.x & (WARPS - 1)) == 0;
    for (int begin = threadIdx.x / WARPS; begin - (int)threadIdx.x / WARPS < list.count; begin += ROWS * APART) {
        double sum[ROWS];
        sums_of_pieces<ROWS, MOST_PIECES / ROWS>(p, partial, begin, APART, list.count, sum);
        #pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int index = begin + r * APART;
            if (!writes || index >= list.count) continue;
            const int position = list.position(index);
            const double score = score_of(p, sum[r], row_at(p, position));
            sm.score[index] = score;
            sm.arm[index] = position;
            if (!isfinite(score)) work->bad_score = p.epoch;
            if (p.mark) p.mark[(size_t)query * p.n + position] = (int)p.epoch;
        }
    }
}

// The sum of a whole row by one block of threads, of four rows at once: take(index, sum) for each.
template <typename Take> __device__ __forceinline__ void add_group(const Params& p, const List& list, const QUERY* q, int group, Merge& sm, const Take& take) {
    const ROW* row[TOGETHER];
    rows_of_group(p, list, group, row);
    const int units = units_of(p);
    double s = 0.0;
    for (int piece = 0; piece < p.pieces; piece++) s += piece_sum(p, row, q, piece * p.piece, min(units, (piece + 1) * p.piece));
    __syncthreads();
    if ((lane_of() & 7) == 0) sm.sums[warp_of()][row_of_lane()] = s;
    __syncthreads();
    if (threadIdx.x >= WARPS * TOGETHER) return;                // two warps, sixteen lanes for a row
    const int w = threadIdx.x & (WARPS - 1), j = threadIdx.x / WARPS, index = group * TOGETHER + j;
    const double sum = sum_of_warps(sm.sums[w][j]);
    if (w == 0 && index < list.count) take(index, sum);
}

// Few rows, each in pieces by many blocks of threads. True in the last of them, where sm has all scores.
__device__ bool evaluate_few(const Params& p, Work* work, int query, const List list, int first, int* queue, int beginners,
                             int* arrived, Merge& sm) {
    const int groups = (list.count + TOGETHER - 1) / TOGETHER, items = groups * p.pieces;
    const QUERY* q = p.query + (size_t)query * p.query_stride;
    double* partial = p.partial + (size_t)query * p.few * p.pieces * WARPS;
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
        add_piece(p, list, q, partial, item / p.pieces, item % p.pieces);
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
    if (p.pieces <= MOST_PIECES / 8) add_pieces<8>(p, work, query, list, partial, sm);
    else add_pieces<1>(p, work, query, list, partial, sm);
    __syncthreads();
    return true;
}

// Many rows: scores that reach the threshold go to the list, of those that were not evaluated before. Where arms were listed, all of
// them are new. True in the last block of threads.
__device__ bool evaluate_many(const Params& p, Work* work, int query, const List list, int* queue, int* arrived, Merge& sm) {
    const QUERY* q = p.query + (size_t)query * p.query_stride;
    const double tau = fresh(work->tau);
    const auto take = [&](int index, double sum) {
        const int position = list.position(index);
        const double score = score_of(p, sum, row_at(p, position));
        if (!isfinite(score)) work->bad_score = p.epoch;
        if (!(score >= tau) || (!p.lows && __ldcg(p.mark + (size_t)query * p.n + position) == (int)p.epoch)) return;
        const int at = atomicAdd(&work->found, 1);
        if (at >= p.best_capacity) return;
        p.best_arm[(size_t)query * p.best_capacity + at] = position;
        p.best_score[(size_t)query * p.best_capacity + at] = score;
        __threadfence();
    };
    if (units_of(p) == 1) add_short_rows(p, list, q, take);
    else {
        const int groups = (list.count + TOGETHER - 1) / TOGETHER;
        int group = blockIdx.x;
        while (group < groups) {
            int next = 0;
            if (threadIdx.x == 0) next = p.grid + atomicAdd(queue, 1);   // on its way while this is read
            add_group(p, list, q, group, sm, take);
            __syncthreads();
            if (threadIdx.x == 0) sm.flag = next;
            __syncthreads();
            group = sm.flag;
        }
    }
    return last_to_arrive(arrived, p.grid, &sm.flag);
}

// All rows by one launch, where their number is not large: every score goes to its place. True in the last block of threads.
__device__ bool evaluate_all(const Params& p, Work* work, int* arrived, Merge& sm) {
    const List all = {nullptr, 1, p.n};
    const auto take = [&](int position, double sum) {
        const double score = score_of(p, sum, row_at(p, position));
        if (!isfinite(score)) work->bad_score = p.epoch;
        __stcg(p.best_score + position, score);
        __stcg(p.best_arm + position, position);
    };
    const int groups = (p.n + TOGETHER - 1) / TOGETHER;
    if (units_of(p) == 1) add_short_rows(p, all, p.query, take);
    else if (groups >= p.grid) {
        for (int group = blockIdx.x; group < groups; group += p.grid) add_group(p, all, p.query, group, sm, take);
    } else {                                                    // pieces, so that all blocks of threads have some
        for (int item = blockIdx.x; item < groups * p.pieces; item += p.grid) {
            const int group = item / p.pieces;
            add_piece(p, all, p.query, p.partial, group, item % p.pieces);
            __syncthreads();
            if (threadIdx.x == 0) {
                __threadfence();
                sm.flag = atomicInc(reinterpret_cast<u32*>(p.mark) + group, (u32)p.pieces - 1u) == (u32)p.pieces - 1u;   // 0 again after the last
                __threadfence();
            }
            __syncthreads();
            if (!sm.flag || threadIdx.x >= WARPS * TOGETHER) continue;
            const int w = threadIdx.x & (WARPS - 1), index = group * TOGETHER + threadIdx.x / WARPS;
            double sum;
            sums_of_pieces<1, MOST_PIECES>(p, p.partial, index, 0, p.n, &sum);
            if (w == 0 && index < p.n) take(index, sum);
        }
    }
    return last_to_arrive(arrived, p.grid, &sm.flag);
}
