// The order of a query's blocks: weights by many blocks of threads, then whole tickets and draws by the last of them.

// PLACES: bundles of blocks whose tickets are added up in shared memory.
constexpr int TABLE = 4096;           // places for drawn blocks, a power of two

struct Draws {                        // what drops repeats and counts what is left
    int key[TABLE], first[TABLE];
    int block[DRAWS];
    u64 sums[WARPS];
    int counts[WARPS];
    double squares[WARPS];
    u32 largest;
};
struct Tickets {
    Draws draws;
    u64 before[PLACES + 1];           // tickets of the bundles before each
};

// Weight of the block of each four threads: |q_b|^2.
__device__ void weigh(const Params& p, const QUERY* q, double* weights, Work* work, int slice) {
    const int chunk = slice * THREADS + threadIdx.x, column = chunk * ELEMENTS;
    double sum = 0.0;
    bool finite = true;
    #pragma unroll
    for (int e = 0; e < ELEMENTS; e++) {
        const double x = column + e < p.width ? (double)q[column + e] : 0.0;
        finite = finite && isfinite(x);
        sum = sum + x * x;
    }
    sum += __shfl_xor_sync(ALL_LANES, sum, 2);
    sum += __shfl_xor_sync(ALL_LANES, sum, 1);
    if (chunk % LANES == 0 && chunk / LANES < p.blocks) weights[chunk / LANES] = sum;
    if (!finite) work->bad_query = p.epoch;
}

// The exponent e of the largest weight, below 2^e, from the upper half of its bits.
__device__ __forceinline__ int exponent_of(u32 high) { return (int)(high >> 20) - 1022; }
__device__ __forceinline__ double power_of_two(int e) { return __longlong_as_double((long long)(e + 1023) << 52); }

template <typename T> __device__ __forceinline__ T scan_of_warp(T value) {
    #pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        const T other = __shfl_up_sync(ALL_LANES, value, o);
        if (lane_of() >= o) value += other;
    }
    return value;
}

// Where a block lies in the table of drawn blocks.
__device__ __forceinline__ int place_of(Draws& sm, int block) {
    for (u32 at = (u32)block * 2654435761u >> 20;; at = (at + 1) & (TABLE - 1)) {
        const int old = atomicCAS(&sm.key[at], -1, block);
        if (old == -1 || old == block) return (int)at;
    }
}

// Drops repeated draws and writes the steps of the order. Each thread has DRAWS / THREADS draws.
__device__ void write_order(const Params& p, Work* work, int query, Draws& sm, const int* block, const u64* tickets, u64 total, double unit, double scale) {
    constexpr int EACH = DRAWS / THREADS;
    const int t = threadIdx.x, lane = lane_of(), warp = warp_of();
    for (int i = t; i < TABLE; i += THREADS) { sm.key[i] = -1; sm.first[i] = DRAWS; }
    __syncthreads();
    int place[EACH];
    #pragma unroll
    for (int r = 0; r < EACH; r++) { place[r] = place_of(sm, block[r]); atomicMin(&sm.first[place[r]], r * THREADS + t); }
    Step* order = p.order + (size_t)query * (DRAWS + 1);
    int steps = 0;
    u64 seen = 0;
    for (int r = 0; r < EACH; r++) {
        __syncthreads();
        const bool first = sm.first[place[r]] == r * THREADS + t;
        const u32 kept = __ballot_sync(ALL_LANES, first);
        const u64 inclusive = scan_of_warp<u64>(first ? tickets[r] : 0ull);
        if (lane == 31) { sm.sums[warp] = inclusive; sm.counts[warp] = __popc(kept); }
        __syncthreads();
        u64 base = seen;
        int at = steps;
        #pragma unroll
        for (int v = 0; v < WARPS; v++) {
            if (v < warp) { base += sm.sums[v]; at += sm.counts[v]; }
            seen += sm.sums[v];
            steps += sm.counts[v];
        }
        if (first) {
            at += __popc(kept & ((1u << lane) - 1u));
            const double left = (double)(total - (base + inclusive - tickets[r])) * unit;
            Step step;
            step.block = block[r];
            step.inverse_weight = (float)(1.0 / ((double)tickets[r] * unit));
            step.left = (float)left;
            step.inverse_left = (float)(1.0 / left);
            order[at] = step;
            sm.block[at] = block[r];
        }
    }
    __syncthreads();
    const QUERY* q = p.query + (size_t)query * p.query_stride;
    float* drawn = p.drawn + (size_t)query * DRAWS * COLUMNS;
    const int used = min(steps, p.third) * COLUMNS;             // no race goes further
    #pragma unroll 8
    for (int i = t; i < used; i += THREADS) {
        const int column = sm.block[i / COLUMNS] * COLUMNS + i % COLUMNS;
        drawn[i] = column < p.width ? (float)((double)__ldg(q + column) * scale) : 0.0f;
    }
    for (int i = t; i < DRAWS; i += THREADS) p.drawn_blocks[(size_t)query * DRAWS + i] = i < steps ? sm.block[i] : -1;
    for (int i = t; i < p.slot_count * 2; i += THREADS) p.slots[(size_t)query * p.slot_count * 2 + i] = 0;
    if (t == 0) {
        work->steps = steps;
        work->complete = seen == total;
        work->weight = (double)total * unit;
        work->scale = scale;
        Step end;                     // what is left after the last step
        end.block = -1;
        end.inverse_weight = 0.0f;
        const double left = (double)(total - seen) * unit;
        end.left = (float)left;
        end.inverse_left = seen == total ? 0.0f : (float)(1.0 / left);
        order[steps] = end;
    }
}

// What the later kernels count from 0, and how the query goes on.
__device__ void begin_query(const Params& p, Work* work, bool within_range) {
    if (threadIdx.x) return;
    work->blocks = work->rows = work->size = 0;
    work->stage = work->listed = 0;
    for (int i = 0; i < 4; i++) work->count[i] = 0;
    for (int i = 2; i < 8; i++) work->queue[i] = work->arrived[i] = 0;
    work->cost[0] = work->cost[1] = -1.0f;
    const int reason = within_range ? p.whole : BEYOND_RANGE;   // which no product in float32 answers, either
    work->reason = reason;
    work->state = reason ? WHOLE : RACING;
    work->begin = 0;
}

__device__ __forceinline__ bool within_range(double square) {
    return square > SMALLEST_QUERY * SMALLEST_QUERY && square < LARGEST_QUERY * LARGEST_QUERY;
}

// |q|^2 by one block of threads, in the order of `draw_order`. sums: room for a number of each warp.
__device__ double square_of_query(const Params& p, const double* weights, double* sums) {
    const int bundle = (p.blocks + PLACES - 1) / PLACES, bundles = (p.blocks + bundle - 1) / bundle;
    const int each = (bundles + THREADS - 1) / THREADS | 1;
    const int begin = min(bundles, (int)threadIdx.x * each), end = min(bundles, begin + each);
    double square = 0.0;
    #pragma unroll 8
    for (int b = begin * bundle; b < min(p.blocks, end * bundle); b++) square += __ldcg(weights + b);
    #pragma unroll
    for (int o = 16; o; o >>= 1) square += __shfl_xor_sync(ALL_LANES, square, o);
    __syncthreads();
    if (lane_of() == 0) sums[warp_of()] = square;
    __syncthreads();
    square = 0.0;
    #pragma unroll
    for (int v = 0; v < WARPS; v++) square += sums[v];
    __syncthreads();
    return square;
}

// One block of threads: tickets of all blocks, and the draws. Rows of many blocks are counted in bundles of neighbours.
__device__ void draw_order(const Params& p, Work* work, int query, Tickets& sm) {
    constexpr int EACH = DRAWS / THREADS;
    const int t = threadIdx.x, lane = lane_of(), warp = warp_of();
    const double* weights = p.weights + (size_t)query * p.blocks;
    const int bundle = (p.blocks + PLACES - 1) / PLACES, bundles = (p.blocks + bundle - 1) / bundle;
    if (t == 0) sm.draws.largest = 0;
    __syncthreads();
    u32 high = 0;
    #pragma unroll 13
    for (int b = t; b < p.blocks; b += THREADS) {
        const double w = __ldcg(weights + b);
        if (bundle == 1) sm.before[b] = (u64)__double_as_longlong(w);
        high = max(high, (u32)__double2hiint(w * RAISED_WEIGHT));
    }
    high = __reduce_max_sync(ALL_LANES, high);
    if (lane == 0) atomicMax(&sm.draws.largest, high);
    __syncthreads();
    const int exponent = exponent_of(sm.draws.largest);
    const bool usable = exponent > -LARGEST_EXPONENT && exponent < LARGEST_EXPONENT;   // of every query within range
    const int halved = usable ? exponent >> 1 : 0;
    // The largest weight of the scaled query is about 1.
    const double inverse_unit = power_of_two(usable ? TICKET_BITS - exponent : 0), scale = power_of_two(-halved);
    const double unit = power_of_two(usable ? exponent - TICKET_BITS - 2 * halved : 0);
    const auto tickets_at = [&](double w) { return usable ? tickets_of(w * RAISED_WEIGHT, inverse_unit) : 0ull; };
    const int each = (bundles + THREADS - 1) / THREADS | 1;     // odd: threads use different banks
    const int begin = min(bundles, t * each), end = min(bundles, begin + each);
    u64 mine = 0;
    double square = 0.0;
    for (int i = begin; i < end; i++) {
        u64 tickets = 0;
        if (bundle == 1) {
            const double w = __longlong_as_double((long long)sm.before[i]);
            square += w;
            tickets = tickets_at(w);
        } else {
            const int stop = min(p.blocks, (i + 1) * bundle);
            #pragma unroll 8
            for (int b = i * bundle; b < stop; b++) {
                const double w = __ldcg(weights + b);
                square += w;
                tickets += tickets_at(w);
            }
        }
        sm.before[i] = tickets;
        mine += tickets;
    }
    const u64 inclusive = scan_of_warp<u64>(mine);
    #pragma unroll
    for (int o = 16; o; o >>= 1) square += __shfl_xor_sync(ALL_LANES, square, o);
    if (lane == 31) sm.draws.sums[warp] = inclusive;
    if (lane == 0) sm.draws.squares[warp] = square;
    __syncthreads();
    u64 before = inclusive - mine, total = 0;
    square = 0.0;
    #pragma unroll
    for (int v = 0; v < WARPS; v++) {
        if (v < warp) before += sm.draws.sums[v];
        total += sm.draws.sums[v];
        square += sm.draws.squares[v];
    }
    for (int i = begin; i < end; i++) {
        const u64 tickets = sm.before[i];
        sm.before[i] = before;
        before += tickets;
    }
    if (t == 0) { sm.before[bundles] = total; work->square = square; }
    begin_query(p, work, within_range(square));
    __syncthreads();
    if (total == 0 || p.whole) {                                // nothing is drawn
        if (t == 0) { work->steps = 0; work->complete = total == 0; work->weight = (double)total * unit; work->scale = total ? scale : 1.0; }
        return;
    }
    int block[EACH];
    u64 tickets[EACH];
    #pragma unroll
    for (int r = 0; r < EACH; r++) {
        const u64 ticket = random_ticket(p.seed, r * THREADS + t, total);
        int low = 0, high = bundles;                            // before[low] <= ticket < before[high]
        while (high - low > 1) {
            const int middle = (low + high) >> 1;
            if (sm.before[middle] <= ticket) low = middle; else high = middle;
        }
        u64 passed = sm.before[low];
        block[r] = low * bundle;
        tickets[r] = sm.before[low + 1] - passed;
        if (bundle > 1) {
            while (passed + (tickets[r] = tickets_at(__ldcg(weights + block[r]))) <= ticket) {
                passed += tickets[r];
                block[r]++;
            }
        }
    }
    write_order(p, work, query, sm.draws, block, tickets, total, unit, scale);
}
