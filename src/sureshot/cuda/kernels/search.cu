// The kernels of a query, in the order of their launches: first, race, exact, race_on, exact, race_on, last; or first and
// last, or `whole` alone, where all rows are evaluated anyway. The second dimension of the grid is the query of a batch.

extern "C" __global__ void __launch_bounds__(THREADS, 2) first(const __grid_constant__ Params p) {
    extern __shared__ __align__(16) char shared[];
    Merge& sm = *reinterpret_cast<Merge*>(shared);
    QUERY_OF_BLOCK;
    const int slices = (p.blocks * LANES + THREADS - 1) / THREADS, weighing = min(slices, p.grid);
    if (blockIdx.x < weighing) {
        const QUERY* q = p.query + (size_t)query * p.query_stride;
        for (int s = blockIdx.x; s < slices; s += weighing) weigh(p, q, p.weights + (size_t)query * p.blocks, work, s);
        if (last_to_arrive(&work->arrived[0], weighing, &sm.flag)) {
            if (p.lows)
                for (int i = threadIdx.x; i < GROUPS; i += THREADS) p.lows[(size_t)query * GROUPS + i] = 0;
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

// A query for which all rows are evaluated, and there are not too many: this one kernel and nothing else.
extern "C" __global__ void __launch_bounds__(THREADS, 2) whole(const __grid_constant__ Params p) {
    extern __shared__ __align__(16) char shared[];
    Merge& sm = *reinterpret_cast<Merge*>(shared);
    Work* work = p.work;
    const int slices = (p.blocks * LANES + THREADS - 1) / THREADS, weighing = min(slices, p.grid);
    if (blockIdx.x < weighing) {
        for (int s = blockIdx.x; s < slices; s += weighing) weigh(p, p.query, p.weights, work, s);
        if (last_to_arrive(&work->arrived[0], weighing, &sm.flag)) {
            const double square = square_of_query(p, p.weights, &sm.sums[0][0]);
            if (threadIdx.x == 0) work->square = square;
            begin_query(p, work, true);
        }
    }
    if (!evaluate_all(p, work, &work->arrived[1], sm)) return;
    if (threadIdx.x == 0) {
        work->arrived[0] = work->arrived[1] = 0;                // for the next launch
        work->found = p.n;
        work->rows = p.n - p.first;                             // the host adds those that other searches begin with
    }
    __threadfence();
    __syncthreads();
    choose(p, work, 0, sm);
}

// A first race is short where few rows are too short: then the threshold is poor, and the best of it make a better one. Where rows
// are so short that a pass takes little longer, there is no race then.
__device__ int first_end(const Params& p, const Work* work, int query) {
    const int at = (int)((long long)(threadIdx.x & 255) * p.n / 256);
    const float left = p.order[(size_t)query * (DRAWS + 1)].inverse_left;
    const bool pruned = threadIdx.x < 256 && too_short(goal_of(p, threshold_of(p, work, query), row_at(p, at), p.square[row_at(p, at)]), 0.0f, 0.0f, left);
    const int count = __syncthreads_count(pruned);
    if (count < p.least_pruned) return 0;
    return count * 2 < 256 ? p.low : p.high;
}

// Two kernels for races, since all kinds of them in one would need more registers than there are.
extern "C" __global__ void __launch_bounds__(THREADS, 2) race(const __grid_constant__ Params p) {
    FOLLOWS;
    QUERY_OF_BLOCK;
    if (blockIdx.x == 0 && threadIdx.x == 0) work->queue[0] = work->arrived[0] = work->arrived[1] = 0;
    if (!__syncthreads_and(fresh(work->state) == RACING)) return;
    const int wanted = first_end(p, work, query), end = min(wanted, fresh(work->steps));
    if (wanted == 0) {                                          // whether another block of threads has seen this before, or sees it now
        if (blockIdx.x == 0 && threadIdx.x == 0) { work->reason = NO_HOPE; work->state = WHOLE; }
        return;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) work->end = end;
    if (end <= SHORT_CAP) run_race<SHORT_CAP>(p, work, query, 1, 0, end);
    else run_race<ROUND>(p, work, query, 1, 0, end);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) race_on(const __grid_constant__ Params p) {
    FOLLOWS;
    QUERY_OF_BLOCK;
    // Where a pass for some queries of a batch is made anyway, it answers the others as well. Whether some block of threads of a query
    // sees this or that it was seen, it ends here; and it changes nothing for other queries.
    if (!__syncthreads_and(fresh(work->state) == RACING)) return;
    if (__syncthreads_or(is_multiplied(p, threadIdx.x))) {
        if (blockIdx.x == 0 && threadIdx.x == 0) { work->reason = NO_HOPE; work->state = WHOLE; }
        return;
    }
    const int begin = fresh(work->begin), end = fresh(work->end);
    if (fresh(work->count[p.stage - 1]) <= WIDE_ARMS) run_race<32>(p, work, query, p.stage, begin, end);
    else run_race<ROUND>(p, work, query, p.stage, begin, end);
}

__device__ __forceinline__ List left_after(const Params& p, int query, int stage, int count) {
    const float4* records = p.records + (size_t)(query * 2 + (stage & 1 ^ 1)) * p.capacity * 2;
    List list = {reinterpret_cast<const int*>(records), 8, count};
    if (count > p.capacity) list = {nullptr, 1, p.n};
    return list;
}

// The best of the arms that are left, one of each slot; the same list in every block of threads. By the first warp.
__device__ void choose_candidates(const Params& p, int query, int stage, int* out, int* count) {
    const u64* slots = p.slots + (size_t)(query * 2 + (stage & 1)) * p.slot_count;
    int taken = 0;
    for (int i = 0; i < p.slot_count; i += 64) {                // a power of two, at least 64
        const u64 slot[2] = {__ldcg(slots + i + lane_of()), __ldcg(slots + i + 32 + lane_of())};
        #pragma unroll
        for (int j = 0; j < 2; j++) {
            const u32 full = __ballot_sync(ALL_LANES, slot[j] != 0);
            if (slot[j]) out[taken + __popc(full & ((1u << lane_of()) - 1u))] = (int)~(u32)slot[j];
            taken += __popc(full);
        }
    }
    if (lane_of() == 0) *count = taken;
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
    long long needed = 0;
    int seen = 0;
    constexpr int EACH = SAMPLES / THREADS;                     // all loads of a thread on their way together
    int4 states[EACH];
    bool counts[EACH];
    double squares[EACH];
    #pragma unroll
    for (int r = 0; r < EACH; r++) {
        const int i = r * THREADS + threadIdx.x, position = min(i, p.samples - 1) * p.sample_stride;
        states[r] = __ldcg(p.sample + (size_t)query * p.samples + min(i, p.samples - 1));
        counts[r] = i < p.samples && fresh(p.mark[(size_t)query * p.n + position]) != (int)p.epoch;
        squares[r] = p.square[row_at(p, position)];
    }
    #pragma unroll
    for (int r = 0; r < EACH; r++) {
        const int4 state = states[r];
        if (!counts[r] || state.x != (int)(p.epoch * 4u + (u32)stage)) continue;
        const Goal goal = goal_of(p, limit, row_at(p, (r * THREADS + threadIdx.x) * p.sample_stride), squares[r]);
        const float sum = __int_as_float(state.y), mean = __int_as_float(state.z) * inverse.x;
        const float variance = variance_of(end, mean, __int_as_float(state.w) * inverse.x, inverse.y);
        int steps = steps_needed(p, (goal.theta - sum) * next.inverse_left - mean, variance, end);
        if (METRIC == ABSOLUTE) steps = max(steps, steps_needed(p, (goal.theta + sum) * next.inverse_left + mean, variance, end));
        needed += steps;
        seen++;
    }
    // In two parts: a sum of counts has 31 bits.
    needed = ((long long)sum_of_counts((int)(needed >> 16), sm) << 16) + sum_of_counts((int)(needed & 0xffff), sm);
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
extern "C" __global__ void __launch_bounds__(THREADS, 2) exact(const __grid_constant__ Params p) {
    FOLLOWS;
    extern __shared__ __align__(16) char shared[];
    __shared__ int chosen_count, state, count;
    Merge& sm = *reinterpret_cast<Merge*>(shared);
    int* chosen = reinterpret_cast<int*>(shared + sizeof(Merge));
    QUERY_OF_BLOCK;
    const int stage = p.stage;
    // All that decides is read at once, and once for all threads: the last block may change the state while others begin.
    if (threadIdx.x < 32) choose_candidates(p, query, stage, chosen, &chosen_count);
    else if (threadIdx.x == 32) state = fresh(work->state);
    else if (threadIdx.x == 64) count = fresh(work->count[stage]);
    __syncthreads();
    if (state != RACING) return;
    const bool answer = count <= p.direct;
    List list = left_after(p, query, stage, count);
    if (!answer) list = {chosen, 1, chosen_count};
    if (!evaluate_few(p, work, query, list, blockIdx.x, nullptr, 0, &work->arrived[stage + 1], sm)) return;
    if (threadIdx.x == 0) { work->rows += list.count; work->stage = stage; }
    merge(p, work, query, list.count, answer, sm);
    if (!answer) { __threadfence(); look_ahead(p, work, query, stage, count - list.count, sm); }
}

// What is left in the end, or everything.
extern "C" __global__ void __launch_bounds__(THREADS, 2) last(const __grid_constant__ Params p) {
    FOLLOWS;
    extern __shared__ __align__(16) char shared[];
    Merge& sm = *reinterpret_cast<Merge*>(shared);
    QUERY_OF_BLOCK;
    __shared__ int state;             // read once: the last block may change it while others begin
    if (threadIdx.x == 0) state = fresh(work->state);
    __syncthreads();
    if (state == ANSWERED) return;
    const int stage = state == RACING ? 3 : fresh(work->stage);
    const int left = stage ? fresh(work->count[stage]) : p.n;
    List list = {nullptr, 1, p.n};
    if (stage) list = left_after(p, query, stage, left);
    const bool few = state == RACING && list.at && list.count <= p.few;   // no arm of these was evaluated before
    if (few) {
        if (!evaluate_few(p, work, query, list, blockIdx.x, nullptr, 0, &work->arrived[4], sm)) return;
    } else if (!evaluate_many(p, work, query, list, &work->queue[5], &work->arrived[4], sm)) return;
    if (threadIdx.x == 0) {
        work->rows += list.count;
        work->stage = stage;
        work->queue[0] = work->arrived[0] = work->arrived[1] = 0;   // of `first`, if no race came between
    }
    if (few) merge(p, work, query, list.count, true, sm);
    else if (fresh(work->found) > p.best_capacity) {            // the host asks it again, alone
        if (threadIdx.x == 0) work->reason = AGAIN;
        __threadfence();
        publish(p, work, query);
    } else { __threadfence(); choose(p, work, query, sm); }
}

static_assert(sizeof(Params) == PARAMS_BYTES && sizeof(Work) == WORK_BYTES, "host and kernels share these structures");
static_assert(sizeof(Merge) <= MERGE_BYTES && sizeof(Tickets) <= TICKET_BYTES, "the host reserves their shared memory");
