// The kernels of a query, in the order of their launches: first, then race and exact three times. The second
// dimension of the grid is the query of a batch.

#define QUERY_OF_BLOCK const int query = blockIdx.y; Work* work = p.work + query

extern "C" __global__ void __launch_bounds__(THREADS, 2) first(const __grid_constant__ Params p) {
    extern __shared__ __align__(16) char shared[];
    Merge& sm = *reinterpret_cast<Merge*>(shared);
    QUERY_OF_BLOCK;
    const int slices = (p.blocks * LANES + THREADS - 1) / THREADS, weighing = min(slices, p.grid);
    if (blockIdx.x < weighing) {
        const QUERY* q = p.query + (size_t)query * p.query_stride;
        for (int s = blockIdx.x; s < slices; s += weighing) weigh(p, q, p.weights + (size_t)query * p.blocks, work, s);
        if (p.blocks <= NARROW && last_to_arrive(&work->arrived[0], weighing, &sm.flag)) {
            draw_order(p, work, query, *reinterpret_cast<Tickets*>(shared));
            __syncthreads();
        }
    }
    // Those without weights begin with an item of their own; the rest is handed out as they become free.
    const int free = p.grid - weighing;
    const List leaders = {p.leaders, 1, p.first};
    if (evaluate_few(p, work, query, leaders, (int)blockIdx.x >= weighing ? (int)blockIdx.x - weighing : -1, &work->queue[0], free, &work->arrived[1], sm)) {
        if (threadIdx.x == 0) { work->found = 0; work->tau = -INFINITE; }
        __syncthreads();
        merge(p, work, query, p.first, false, sm);
    }
}

// A first race is short where few rows are too short: then the threshold is poor, and the best of it make a better one.
__device__ int first_end(const Params& p, const Work* work, int query) {
    const int at = (int)((long long)(threadIdx.x & 255) * p.n / 256);
    const float left = p.order[(size_t)query * (DRAWS + 1)].inverse_left;
    const bool pruned = threadIdx.x < 256 && too_short(goal_of(p, threshold_of(p, work, query), row_at(p, at)), 0.0f, 0.0f, left);
    return __syncthreads_count(pruned) * 2 < 256 ? p.low : p.high;
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) race_1(const __grid_constant__ Params p) {
    QUERY_OF_BLOCK;
    if (blockIdx.x == 0 && threadIdx.x == 0) work->queue[0] = work->arrived[0] = work->arrived[1] = 0;
    if (fresh(work->state) != RACING) return;
    const int end = min(first_end(p, work, query), fresh(work->steps));
    if (blockIdx.x == 0 && threadIdx.x == 0) work->end = end;
    if (end <= 8) race<8, 1>(p, work, query, 1, 0, end);
    else race<ROUND, 1>(p, work, query, 1, 0, end);
}

__device__ __forceinline__ void race_on(const Params& p, Work* work, int query, int stage) {
    if (fresh(work->state) != RACING) return;
    const int begin = fresh(work->begin), end = fresh(work->end);
    if (fresh(work->count[stage - 1]) > p.grid * WARPS) race<ROUND, 1>(p, work, query, stage, begin, end);
    else race<32, 1>(p, work, query, stage, begin, end);
}
extern "C" __global__ void __launch_bounds__(THREADS, 2) race_2(const __grid_constant__ Params p) {
    QUERY_OF_BLOCK;
    race_on(p, work, query, 2);
}
extern "C" __global__ void __launch_bounds__(THREADS, 2) race_3(const __grid_constant__ Params p) {
    QUERY_OF_BLOCK;
    race_on(p, work, query, 3);
}

__device__ __forceinline__ List left_after(const Params& p, int query, int stage, int count) {
    const float4* records = p.records + (size_t)(query * 2 + (stage & 1 ^ 1)) * p.capacity * 2;
    List list = {reinterpret_cast<const int*>(records), 8, count};
    if (count > p.capacity) list = {nullptr, 1, p.n};
    return list;
}

// The best of the arms that are left, one of each slot; the same list in every block of threads.
__device__ int candidates(const Params& p, int query, int stage, int* out, int* count) {
    const u64* slots = p.slots + (size_t)(query * 2 + (stage & 1)) * p.slot_count;
    if (threadIdx.x < 32) {
        int taken = 0;
        for (int i = 0; i < p.slot_count; i += 32) {
            const u64 slot = i + lane_of() < p.slot_count ? __ldcg(slots + i + lane_of()) : 0;
            const u32 full = __ballot_sync(ALL_LANES, slot != 0);
            if (slot) out[taken + __popc(full & ((1u << lane_of()) - 1u))] = (int)~(u32)slot;
            taken += __popc(full);
        }
        if (threadIdx.x == 0) *count = taken;
    }
    __syncthreads();
    return *count;
}

// Steps that an arm of the sample needs, by the spread of its steps and the distance of their mean.
__device__ __forceinline__ int steps_needed(const Params& p, float distance, float variance, int end) {
    if (!(distance > 0.0f)) return p.blocks;
    const float steps = p.per_spread * (variance + distance * distance) / (distance * distance) - (float)end;
    return (int)fminf(fmaxf(steps, 0.0f), (float)p.blocks);
}

// How the query goes on: by the steps that a fixed sample of the arms needs at the new threshold.
__device__ void look_ahead(const Params& p, Work* work, int query, int stage, int left, Merge& sm) {
    __syncthreads();
    const int end = fresh(work->end);
    const Threshold limit = threshold_of(p, work, query);
    const Step next = p.order[(size_t)query * (DRAWS + 1) + end];
    const float2 inverse = p.inverse[end];
    int needed = 0, seen = 0;
    for (int i = threadIdx.x; i < p.samples; i += THREADS) {
        const int4 state = __ldcg(p.sample + (size_t)query * p.samples + i);
        const int position = i * p.sample_stride;
        if (state.x != (int)(p.epoch * 4u + (u32)stage) || fresh(p.mark[(size_t)query * p.n + position]) == (int)p.epoch) continue;
        const Goal goal = goal_of(p, limit, row_at(p, position));
        const float sum = __int_as_float(state.y), mean = __int_as_float(state.z) * inverse.x;
        const float variance = variance_of(end, mean, __int_as_float(state.w) * inverse.x, inverse.y);
        int steps = steps_needed(p, (goal.theta - sum) * next.inverse_left - mean, variance, end);
        if (METRIC == ABSOLUTE) steps = max(steps, steps_needed(p, (goal.theta + sum) * next.inverse_left + mean, variance, end));
        needed += steps;
        seen++;
    }
    needed = sum_of_counts(needed, sm);
    seen = sum_of_counts(seen, sm);
    if (threadIdx.x) return;
    const double cost = seen ? (double)needed / ((double)seen * p.blocks) : 0.0;
    const bool gives_up = (long long)left * 8 > p.n && cost > p.most_cost;
    const int steps = fresh(work->steps);
    work->cost[stage - 1] = (float)cost;
    work->begin = end;
    work->end = min(stage == 2 ? p.third : gives_up ? p.chance : p.second, steps);
    if (fresh(work->count[stage]) > p.capacity) { work->state = WHOLE; work->reason = TOO_MANY; }
    else if (gives_up && (stage == 2 || p.chance == 0)) { work->state = WHOLE; work->reason = NO_HOPE; }
}

// After a race: few arms are evaluated, which is the answer; of many the best ones, which raises the threshold.
__device__ __forceinline__ void exact_after(const Params& p, Work* work, int query, int stage, Merge& sm, int* chosen, int* chosen_count) {
    if (fresh(work->state) != RACING) return;
    const int count = fresh(work->count[stage]);
    const bool answer = count <= p.direct;
    List list = left_after(p, query, stage, count);
    if (!answer) list = {chosen, 1, candidates(p, query, stage, chosen, chosen_count)};
    if (!evaluate_few(p, work, query, list, blockIdx.x, nullptr, 0, &work->arrived[stage + 1], sm)) return;
    if (threadIdx.x == 0) { work->rows += list.count; work->stage = stage; }
    merge(p, work, query, list.count, answer, sm);
    if (!answer) { __threadfence(); look_ahead(p, work, query, stage, count - list.count, sm); }
}

#define SHARED_MERGE extern __shared__ __align__(16) char shared[]; Merge& sm = *reinterpret_cast<Merge*>(shared)
#define SHARED_CHOSEN __shared__ int chosen_count; int* chosen = reinterpret_cast<int*>(shared + sizeof(Merge))

extern "C" __global__ void __launch_bounds__(THREADS, 2) exact_1(const __grid_constant__ Params p) {
    SHARED_MERGE; SHARED_CHOSEN; QUERY_OF_BLOCK;
    exact_after(p, work, query, 1, sm, chosen, &chosen_count);
}
extern "C" __global__ void __launch_bounds__(THREADS, 2) exact_2(const __grid_constant__ Params p) {
    SHARED_MERGE; SHARED_CHOSEN; QUERY_OF_BLOCK;
    exact_after(p, work, query, 2, sm, chosen, &chosen_count);
}

// What is left in the end, or everything.
extern "C" __global__ void __launch_bounds__(THREADS, 2) exact_3(const __grid_constant__ Params p) {
    SHARED_MERGE; QUERY_OF_BLOCK;
    const int state = fresh(work->state), stage = state == RACING ? 3 : fresh(work->stage);
    if (state == ANSWERED) return;
    const int left = stage ? fresh(work->count[stage]) : p.n;
    List list = {nullptr, 1, p.n};
    if (stage) list = left_after(p, query, stage, left);
    const bool few = state == RACING && list.at && list.count <= p.few;   // no arm of these was evaluated before
    if (few) {
        if (!evaluate_few(p, work, query, list, blockIdx.x, nullptr, 0, &work->arrived[4], sm)) return;
    } else if (!evaluate_many(p, work, query, list, &work->queue[5], &work->arrived[4], sm)) return;
    if (threadIdx.x == 0) { work->rows += list.count; work->stage = stage; }
    if (few) merge(p, work, query, list.count, true, sm);
    else { __threadfence(); choose(p, work, query, sm); }
}

extern "C" __global__ void sizes(int* out) {
    out[0] = sizeof(Params); out[1] = sizeof(Work); out[2] = sizeof(Tickets); out[3] = sizeof(Merge);
}
