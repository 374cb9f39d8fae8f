// Arms that may be among the best, by sums whose error is known: each query has a list of them, and of every group of positions
// the largest score that one of them surely reaches. The k-th largest of those is reached by k arms.

constexpr int GROUPS = 4096;          // position modulo this

// Whether a pass that queries of a batch share is made for this one.
__device__ __forceinline__ bool is_multiplied(const Params& p, int query) {
    return query < p.batch && fresh(p.work[query].state) == WHOLE && fresh(p.work[query].reason) != BEYOND_RANGE;
}

// Scores that an arm surely reaches, and that it surely does not exceed.
struct Between { double low, high; };

// From a sum and how far it is off; `own` is |v|^2 for distances, and how far that is off.
__device__ __forceinline__ Between between(const Params& p, int row, double middle, double error, double square, double own, double own_error) {
    Between b = {middle - error, middle + error};
    if (METRIC == SQUARED_DISTANCE) {
        const double both = own + square, off = own_error + both * EXACT_SHARE;
        b.low = 2.0 * b.low - both - off;
        b.high = 2.0 * b.high - both + off;
    } else {
        double factor = p.factor ? p.factor[row] : 1.0;
        if (METRIC == COSINE) factor = 1.0 / sqrt(p.square[row]);
        if (METRIC == ABSOLUTE) b = {fmax(fabs(middle) - error, 0.0), fabs(middle) + error};
        b.low *= factor;
        b.high *= factor;
    }
    const double little = EXACT_SHARE * (fabs(b.low) + fabs(b.high));   // of these operations themselves
    b.low -= little;
    b.high += little;
    return b;
}

// near, count: how far sums of the scaled query are off for a row of norm 1, and of count 1.
__device__ __forceinline__ QueryTerms terms_of_query(const Work* work, double near, double count) {
    const double scale = fresh(work->scale), tau = fresh(work->tau) * scale;
    QueryTerms q;
    q.threshold = (float)(METRIC == SQUARED_DISTANCE ? 0.5 * tau : tau);
    q.half = METRIC == SQUARED_DISTANCE ? (float)(0.5 * fresh(work->square) * scale) : 0.0f;
    q.scale = METRIC == SQUARED_DISTANCE ? (float)scale : 0.0f;
    q.near = (float)(near * RAISED_ERROR);
    q.count = (float)(count * RAISED_ERROR);
    return q;
}

__device__ __forceinline__ float times_of(const Params& p, int row) {
    if (METRIC == COSINE) return (float)sqrt(p.square[row]);
    return METRIC <= ABSOLUTE && p.factor ? (float)(1.0 / p.factor[row]) : 1.0f;
}

__device__ __forceinline__ double raised_square(const Params& p, int row) { return fmax(p.square[row] * p.raised, (double)SMALLEST_SQUARE); }

__device__ __forceinline__ RowTerms terms_of_row(const Params& p, int row, float count) {
    const float half = METRIC == SQUARED_DISTANCE ? (float)(0.5 * p.square[row]) : 0.0f;
    return {times_of(p, row), half, (float)sqrt(raised_square(p, row)), count};
}

__device__ __forceinline__ float size_of(float sum) { return METRIC == ABSOLUTE ? fabsf(sum) : sum; }

// Puts an arm on the list of its query, if it may reach the threshold; what is no number is evaluated, and refused.
__device__ __forceinline__ void list_arm(const Params& p, Work* work, int query, int position, const Between& b) {
    const double tau = fresh(work->tau);
    if (b.high < tau) return;
    const u32 active = __match_any_sync(__activemask(), query); // one addition for those of a query
    const int leader = __ffs(active) - 1;
    int at = 0;
    if (lane_of() == leader) at = atomicAdd(&work->listed, __popc(active));
    at = __shfl_sync(active, at, leader) + __popc(active & ((1u << lane_of()) - 1u));
    if (at < p.best_capacity) {
        __stcg(p.best_arm + (size_t)query * p.best_capacity + at, position);
        __stcg(p.best_score + (size_t)query * p.best_capacity + at, b.high <= INFINITE ? b.high : (double)INFINITE);
    }
    if (b.low > tau && b.low < INFINITE) atomicMax(p.lows + (size_t)query * GROUPS + position % GROUPS, order_of(b.low));
}

// The largest order that k groups reach, or nearly; `low` if there are not so many.
__device__ u64 reached_by_groups(const u64* lows, int k, u64 low, Merge& sm) {
    constexpr int EACH = GROUPS / THREADS;
    u64 own[EACH], most = 0;
    #pragma unroll
    for (int i = 0; i < EACH; i++) { own[i] = __ldcg(lows + i * THREADS + threadIdx.x); most = max(most, own[i]); }
    #pragma unroll
    for (int o = 16; o; o >>= 1) most = max(most, __shfl_xor_sync(ALL_LANES, most, o));
    __syncthreads();
    if (lane_of() == 0) sm.most[warp_of()] = most;
    __syncthreads();
    #pragma unroll
    for (int v = 0; v < WARPS; v++) most = max(most, sm.most[v]);
    const auto reaching = [&](u64 order) {
        int mine = 0;
        #pragma unroll
        for (int i = 0; i < EACH; i++) mine += own[i] >= order;
        return sum_of_counts(mine, sm);
    };
    if (most <= low || reaching(low + 1) < k) return low;
    u64 high = most + 1;              // fewer than k reach it
    low++;
    while (high - low > 1) {
        const u64 middle = low + (high - low) / 2;
        const int count = reaching(middle);
        if (count < k) { high = middle; continue; }
        low = middle;
        if (count <= k + k / 8) break;
    }
    return low;
}

// Of the list those that may be among the best: they are left to be evaluated. By one block of threads. False if they are too many.
__device__ bool sift(const Params& p, const Work* work, int query, int* taken, Merge& sm) {
    const int listed = fresh(work->listed);
    if (listed > p.best_capacity) return false;
    const u64 reached = reached_by_groups(p.lows + (size_t)query * GROUPS, p.k, order_of(fresh(work->tau)), sm);
    float4* target = p.records + (size_t)(query * 2) * p.capacity * 2;
    const int* arm = p.best_arm + (size_t)query * p.best_capacity;
    const double* high = p.best_score + (size_t)query * p.best_capacity;
    if (threadIdx.x == 0) sm.taken = 0;
    __syncthreads();
    #pragma unroll 4
    for (int i = threadIdx.x; i < listed; i += THREADS) {
        const int position = __ldcg(arm + i);
        if (order_of(__ldcg(high + i)) < reached) continue;
        const int at = atomicAdd(&sm.taken, 1);
        if (at < p.capacity) target[(size_t)at * 2].x = __int_as_float(position);
    }
    __syncthreads();
    *taken = sm.taken;
    return *taken <= p.capacity;
}
