// The best scores so far, thresholds, and the answer.

constexpr int TOPS = 128;             // groups of scores, of which the largest are compared first

struct Merge {
    double score[MERGED];
    int arm[MERGED];
    double sums[WARPS][TOGETHER];
    int counts[WARPS];
    int flag, taken;
    u64 least[WARPS], most[WARPS];
    double tops[TOPS];
};

__device__ __forceinline__ u64 order_of(double score) {         // as scores are ordered
    const u64 bits = (u64)__double_as_longlong(score);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
}
__device__ __forceinline__ u32 order_of(float score) {
    const u32 bits = __float_as_uint(score);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

__device__ int sum_of_counts(int mine, Merge& sm) {
    const int sum = __reduce_add_sync(ALL_LANES, mine);
    __syncthreads();
    if (lane_of() == 0) sm.counts[warp_of()] = sum;
    __syncthreads();
    int all = 0;
    #pragma unroll
    for (int v = 0; v < WARPS; v++) all += sm.counts[v];
    return all;
}

// The work record follows the answer to the host; its last word tells that all is there.
__device__ void publish(const Params& p, Work* work, int query) {
    constexpr int WORDS = sizeof(Work) / 4;
    int* out = (int*)(p.out_work + query);
    __syncthreads();
    for (int i = threadIdx.x; i < WORDS - 1; i += THREADS) out[i] = fresh(((int*)work)[i]);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) *(volatile u32*)&((p.out_work + query)->epoch) = p.epoch;
}

// Of sm.score[0, count) moves those to the front that may be among the k best, and returns how many: the k-th largest of the
// largest scores of groups is reached by k of all. Ranking compares every pair, so that few are to be left. What is no number stays.
__device__ int best_in_front(int count, int k, Merge& sm) {
    constexpr int SIDE = THREADS / TOPS, EACH = MERGED / THREADS;
    if (count <= 2 * TOPS || k > TOPS) return count;
    double own[EACH], most = -INFINITE;
    int arm[EACH];
    #pragma unroll
    for (int r = 0; r < EACH; r++) {
        const int i = r * THREADS + threadIdx.x;
        own[r] = i < count ? sm.score[i] : -INFINITE;
        arm[r] = i < count ? sm.arm[i] : 0;
        most = fmax(most, own[r]);
    }
    #pragma unroll
    for (int o = SIDE / 2; o; o >>= 1) most = fmax(most, __shfl_xor_sync(ALL_LANES, most, o));
    if (threadIdx.x % SIDE == 0) sm.tops[threadIdx.x / SIDE] = most;
    if (threadIdx.x == 0) sm.taken = 0;
    __syncthreads();
    if (threadIdx.x < TOPS) {
        const double mine = sm.tops[threadIdx.x];
        int rank = 0;
        #pragma unroll 8
        for (int j = 0; j < TOPS; j++) rank += sm.tops[j] > mine || (sm.tops[j] == mine && j < threadIdx.x);
        if (rank == k - 1) sm.sums[0][0] = mine;
    }
    __syncthreads();
    const double reached = sm.sums[0][0];
    #pragma unroll
    for (int r = 0; r < EACH; r++) {
        if (r * THREADS + (int)threadIdx.x >= count || own[r] < reached) continue;
        const int at = atomicAdd(&sm.taken, 1);
        sm.score[at] = own[r];
        sm.arm[at] = arm[r];
    }
    __syncthreads();
    return sm.taken;
}

// Ranks sm.score[0, count), keeps the k best, and gives them to the host if that is the answer.
__device__ void rank(const Params& p, Work* work, int query, int count, bool answer, Merge& sm) {
    double* best_score = p.best_score + (size_t)query * p.best_capacity;
    int* best_arm = p.best_arm + (size_t)query * p.best_capacity;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const double mine = sm.score[i];
        const int arm = sm.arm[i];
        int rank = 0;
        #pragma unroll 4
        for (int j = 0; j < count; j++) rank += sm.score[j] > mine || (sm.score[j] == mine && sm.arm[j] < arm);
        if (rank >= p.k) continue;
        if (rank == p.k - 1) work->tau = mine;
        best_score[rank] = mine;
        best_arm[rank] = arm;
        if (answer) {
            p.out_score[(size_t)query * p.k + rank] = mine;
            p.out_arm[(size_t)query * p.k + rank] = arm;
        }
    }
    if (threadIdx.x == 0) {
        work->found = min(p.k, count);
        if (answer) work->state = ANSWERED;
    }
    if (answer) publish(p, work, query);
}

// New scores lie in sm.score[0, count): merge them with the best so far.
__device__ void merge(const Params& p, Work* work, int query, int count, bool answer, Merge& sm) {
    const double* best_score = p.best_score + (size_t)query * p.best_capacity;
    const int* best_arm = p.best_arm + (size_t)query * p.best_capacity;
    const int old = min(fresh(work->found), p.k);
    for (int i = threadIdx.x; i < old; i += THREADS) {
        sm.score[count + i] = __ldcg(best_score + i);
        sm.arm[count + i] = __ldcg(best_arm + i);
    }
    __syncthreads();
    rank(p, work, query, best_in_front(count + old, p.k, sm), answer, sm);
}

__device__ __forceinline__ double score_of_order(u64 order) {
    return __longlong_as_double((long long)(order >> 63 ? order & 0x7fffffffffffffffull : ~order));
}

// What the k-th largest of some scores surely reaches, as near to it as not more than `enough` reach it, but for ties. `low`: what k of them reach.
__device__ u64 reached_by_k(const double* score, int found, int k, int enough, u64 low, int* above, Merge& sm) {
    u64 least = ~0ull, most = 0;
    for (int i = threadIdx.x; i < found; i += THREADS) {
        const u64 o = order_of(__ldcg(score + i));
        least = min(least, o);
        most = max(most, o);
    }
    #pragma unroll
    for (int o = 16; o; o >>= 1) {
        least = min(least, __shfl_xor_sync(ALL_LANES, least, o));
        most = max(most, __shfl_xor_sync(ALL_LANES, most, o));
    }
    __syncthreads();
    if (lane_of() == 0) { sm.least[warp_of()] = least; sm.most[warp_of()] = most; }
    __syncthreads();
    #pragma unroll
    for (int v = 0; v < WARPS; v++) { least = min(least, sm.least[v]); most = max(most, sm.most[v]); }
    low = max(low, least);
    u64 high = most == ~0ull ? most : most + 1;                 // fewer than k reach it
    *above = found;
    // Halving scores is fast where they are spread evenly; halving their orders always ends.
    for (int step = 0; high > low && high - low > 1; step++) {
        u64 middle = low + (high - low) / 2;
        const u64 between = order_of(0.5 * score_of_order(low) + 0.5 * score_of_order(high - 1));
        if (step < 32 && between > low && between < high) middle = between;
        int mine = 0;
        #pragma unroll 4
        for (int i = threadIdx.x; i < found; i += THREADS) mine += order_of(__ldcg(score + i)) >= middle;
        const int count = sum_of_counts(mine, sm);
        if (count < k) { high = middle; continue; }
        low = middle;
        *above = count;
        if (count <= enough) break;
    }
    return low;
}

// The answer from a list of any length: the k-th largest score by halving, then the smallest arms among its ties.
__device__ void choose(const Params& p, Work* work, int query, Merge& sm) {
    const double* score = p.best_score + (size_t)query * p.best_capacity;
    const int* arm = p.best_arm + (size_t)query * p.best_capacity;
    const int found = fresh(work->found), enough = max(2 * p.k, 256);
    u64 low = 0;
    int last = p.n, above = found;                              // no position is as large
    if (found > enough) {
        low = reached_by_k(score, found, p.k, enough, low, &above, sm);
        if (above > enough) {                                   // ties at low
            int least = -1;                                     // too few arms up to least
            while (last - least > 1) {
                const int middle = least + (last - least) / 2;
                int mine = 0;
                for (int i = threadIdx.x; i < found; i += THREADS) {
                    const u64 o = order_of(__ldcg(score + i));
                    mine += o > low || (o == low && __ldcg(arm + i) <= middle);
                }
                if (sum_of_counts(mine, sm) >= p.k) last = middle; else least = middle;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) sm.taken = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < found; i += THREADS) {
        const double s = __ldcg(score + i);
        const int a = __ldcg(arm + i);
        const u64 o = order_of(s);
        if (o > low || (o == low && a <= last)) {
            const int at = atomicAdd(&sm.taken, 1);
            sm.score[at] = s;
            sm.arm[at] = a;
        }
    }
    __syncthreads();
    rank(p, work, query, sm.taken, true, sm);
}
