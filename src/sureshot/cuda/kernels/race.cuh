// Races: the arms of a list bet step by step until they are dropped or reach the end of the race.

// Of four values a lane, over four lanes: lane i gets the sum of value i, (0 + 2) + (1 + 3).
__device__ __forceinline__ float sum_of_chunks(float* a) {
    #pragma unroll
    for (int h = 2; h; h >>= 1) {
        const bool upper = lane_of() & h;
        #pragma unroll
        for (int i = 0; i < h; i++) {
            const float sent = upper ? a[i] : a[i + h], kept = upper ? a[i + h] : a[i];
            a[i] = kept + __shfl_xor_sync(ALL_LANES, sent, h);
        }
    }
    return a[0];
}

struct Threshold {                    // of a query
    double tau;                       // with epsilon, as scores are ranked
    double square;                    // |q|^2
    double scale;
    float weight;                     // of all blocks
};

__device__ __forceinline__ Threshold threshold_of(const Params& p, const Work* work, int query) {
    Threshold t;
    t.square = fresh(work->square);
    t.tau = fresh(work->tau) + (METRIC == COSINE ? p.epsilon * sqrt(t.square) : p.epsilon);
    t.scale = fresh(work->scale);
    t.weight = p.order[(size_t)query * (DRAWS + 1)].left;
    return t;
}

struct Goal {                         // of a row, in units of the scaled query
    float square;                     // of its norm, raised
    float theta;                      // what its inner product must exceed, less a guard
};

__device__ __forceinline__ Goal goal_of(const Params& p, const Threshold& t, int row, double square) {
    double needed = t.tau;
    if (METRIC == SQUARED_DISTANCE) {
        const double both = t.square + square;
        needed = (t.tau + both) * 0.5 - both * EXACT_SHARE;
    }
    if (METRIC == COSINE) needed = t.tau * sqrt(square);
    if (METRIC <= ABSOLUTE && p.factor) needed = t.tau / p.factor[row];
    Goal g;
    g.square = fmaxf((float)(square * p.raised), SMALLEST_SQUARE);
    const float scaled = (float)(needed * t.scale);
    g.theta = scaled - (GUARD * sqrtf(g.square * t.weight) + GUARD_OF_THRESHOLD * fabsf(scaled));
    return g;
}

// Whether what is not read of a row is too short for its sum so far, before a step at which so much is left.
__device__ __forceinline__ bool too_short(const Goal& g, float sum, float mass, float inverse_left) {
    const float root = sqrtf(fmaxf(g.square - mass, 0.0f) * inverse_left);
    const bool below = (g.theta - sum) * inverse_left > root;
    return METRIC == ABSOLUTE ? below && (g.theta + sum) * inverse_left > root : below;
}

struct Arm {                          // what is known of an arm before a step
    int position;
    Sums sums;
    float wealth, other_wealth;
};

// What the best of the arms that are left are chosen by: the score that the steps so far promise.
__device__ __forceinline__ float promise_of(const Params& p, const Threshold& t, const Arm& a, float inverse, float left) {
    float estimate = a.sums.x + (a.sums.y * inverse) * left;
    const int row = row_at(p, a.position);
    if (METRIC == SQUARED_DISTANCE) return estimate - (float)(p.square[row] * 0.5 * t.scale);
    if (METRIC == COSINE) return estimate / (float)sqrt(p.square[row]);
    if (METRIC == ABSOLUTE) estimate = fabsf(estimate);
    return p.factor ? estimate * (float)p.factor[row] : estimate;
}

// A record of 32 bytes.
__device__ __forceinline__ void keep(float4* record, const Arm& a) {
    record[0] = make_float4(__int_as_float(a.position), a.sums.x, a.sums.y, a.sums.yy);
    record[1] = make_float4(a.sums.mass, a.sums.u, a.wealth, a.other_wealth);
}

// Inclusive scans over the lanes of a round. SIDE: lanes of an arm.
template <int SIDE> __device__ __forceinline__ float scan_sum(float x) {
    constexpr int SPAN = SIDE < ROUND ? SIDE : ROUND;
    #pragma unroll
    for (int o = 1; o < SPAN; o <<= 1) {
        const float other = __shfl_up_sync(ALL_LANES, x, o, SPAN);
        if ((lane_of() & (SPAN - 1)) >= o) x = x + other;
    }
    return x;
}
template <int SIDE> __device__ __forceinline__ float scan_product(float x) {
    constexpr int SPAN = SIDE < ROUND ? SIDE : ROUND;
    #pragma unroll
    for (int o = 1; o < SPAN; o <<= 1) {
        const float other = __shfl_up_sync(ALL_LANES, x, o, SPAN);
        if ((lane_of() & (SPAN - 1)) >= o) x = x * other;
    }
    return x;
}

// Sums before each lane's step, and after the lanes. With 32 lanes the second round follows the first.
template <int SIDE> __device__ __forceinline__ float before_step(float inclusive, float& base) {
    constexpr int SPAN = SIDE < ROUND ? SIDE : ROUND;
    float before = __shfl_up_sync(ALL_LANES, inclusive, 1, SPAN);
    if ((lane_of() & (SPAN - 1)) == 0) before = 0.0f;
    const float all = __shfl_sync(ALL_LANES, inclusive, SPAN - 1, SPAN);
    if (SIDE <= ROUND) {
        before = base + before;
        base = base + all;
    } else {
        const float first = base + __shfl_sync(ALL_LANES, all, 0);
        before = (lane_of() < ROUND ? base : first) + before;
        base = first + __shfl_sync(ALL_LANES, all, ROUND);
    }
    return before;
}

// The wealth at each lane's step, and after the lanes; too little of it is none.
__device__ __forceinline__ float enough_wealth(float w) { return w < SMALLEST_WEALTH ? 0.0f : w; }
template <int SIDE> __device__ __forceinline__ float wealth_at_step(float factor, float& wealth) {
    constexpr int SPAN = SIDE < ROUND ? SIDE : ROUND;
    const float product = scan_product<SIDE>(factor), all = __shfl_sync(ALL_LANES, product, SPAN - 1, SPAN);
    float at;
    if (SIDE <= ROUND) {
        at = wealth * product;
        wealth = enough_wealth(wealth * all);
    } else {
        const float first = enough_wealth(wealth * __shfl_sync(ALL_LANES, all, 0));
        at = (lane_of() < ROUND ? wealth : first) * product;
        wealth = enough_wealth(first * __shfl_sync(ALL_LANES, all, ROUND));
    }
    return at;
}

// SIDE lanes of a warp race one arm, a lane has one of SIDE steps that are read together.
// stage 1: every position; later ones: the arms that the race before has left.
template <int SIDE>
__device__ __forceinline__ void run_race(const Params& p, Work* work, int query, int stage, int begin, int end) {
    const int lane = lane_of(), place = lane & (SIDE - 1), leader = lane & ~(SIDE - 1), chunk = lane & (LANES - 1);
    const Step* order = p.order + (size_t)query * (DRAWS + 1);
    const int* blocks = p.drawn_blocks + (size_t)query * DRAWS;
    const float* drawn = p.drawn + (size_t)query * DRAWS * COLUMNS;
    const int* mark = p.mark + (size_t)query * p.n;
    const bool ends = end >= fresh(work->steps) && fresh(work->complete);
    __shared__ Threshold limit;
    if (threadIdx.x == 0) limit = threshold_of(p, work, query);
    __syncthreads();
    const float4* source = p.records + (size_t)(query * 2 + (stage & 1)) * p.capacity * 2;
    float4* target = p.records + (size_t)(query * 2 + (stage & 1 ^ 1)) * p.capacity * 2;
    u64* slots = p.slots + (size_t)(query * 2 + (stage & 1)) * p.slot_count;
    const float at_begin = order[begin].inverse_left;
    const int total = stage == 1 ? p.n : fresh(work->count[stage - 1]);
    const int teams = p.grid * WARPS, grab = SIDE == 32 ? 1 : max(1, min(32, (total + teams - 1) / teams));
    const bool once = (long long)teams * grab >= total;

    u32 waiting = 0;                  // lanes that hold an arm which no side has taken
    int base = -1, own = 0;
    float own_square = 0.0f, own_theta = 0.0f;
    int grabbed = (blockIdx.x * WARPS + warp_of()) * grab;
    bool exhausted = false;
    Arm arm;
    arm.position = -1;
    arm.sums = Sums();
    arm.wealth = arm.other_wealth = 1.0f;
    float square = 0.0f, theta = 0.0f;
    int step = begin;
    u32 blocks_read = 0;

    while (true) {
        u32 idle = __ballot_sync(ALL_LANES, arm.position < 0 && place == 0);
        while (idle) {
            if (!waiting) {
                if (exhausted) break;
                if (grabbed < 0 && once) { exhausted = true; break; }
                if (grabbed < 0) {
                    if (lane == 0) grabbed = teams * grab + atomicAdd(&work->queue[stage + 1], grab);
                    grabbed = __shfl_sync(ALL_LANES, grabbed, 0);
                }
                base = grabbed;
                grabbed = -1;
                if (base >= total) { exhausted = true; break; }
                bool open = lane < grab && base + lane < total;
                if (open) {
                    float sum = 0.0f, mass = 0.0f;
                    own = base + lane;
                    if (stage > 1) {
                        const float4 a = __ldcg(&source[(size_t)own * 2]);
                        mass = __ldcg(&source[(size_t)own * 2 + 1].x);
                        sum = a.y;
                        own = __float_as_int(a.x);
                    }
                    const Goal goal = goal_of(p, limit, row_at(p, own), p.square[row_at(p, own)]);
                    own_square = goal.square;
                    own_theta = goal.theta;
                    open = __ldcg(mark + own) != (int)p.epoch && !too_short(goal, sum, mass, at_begin);
                }
                waiting = __ballot_sync(ALL_LANES, open);
                continue;
            }
            const int from = __ffs(waiting) - 1, to = __ffs(idle) - 1;
            waiting &= waiting - 1;
            idle &= idle - 1;
            const int position = __shfl_sync(ALL_LANES, own, from);
            const float its_square = __shfl_sync(ALL_LANES, own_square, from), its_theta = __shfl_sync(ALL_LANES, own_theta, from);
            if (leader == to) {
                arm.position = position;
                square = its_square;
                theta = its_theta;
                step = begin;
                if (stage == 1) {
                    arm.sums = Sums();
                    arm.wealth = arm.other_wealth = 1.0f;
                } else {
                    const float4 a = __ldcg(&source[(size_t)(base + from) * 2]), b = __ldcg(&source[(size_t)(base + from) * 2 + 1]);
                    arm.sums.x = a.y; arm.sums.y = a.z; arm.sums.yy = a.w;
                    arm.sums.mass = b.x; arm.sums.u = b.y; arm.wealth = b.z; arm.other_wealth = b.w;
                }
            }
        }
        if (!__any_sync(ALL_LANES, arm.position >= 0)) break;

        // Four lanes read a block together, for the four steps of their own, one after the other.
        uint4 read[LANES];
        const ROW* row = p.data + (size_t)(arm.position >= 0 ? row_at(p, arm.position) : 0) * p.stride;
        const int group = step + (place & ~(LANES - 1));        // a multiple of four, but for an order that has ended
        int4 four = make_int4(-1, -1, -1, -1);
        if (arm.position >= 0 && group < end) four = *reinterpret_cast<const int4*>(blocks + group);
        #pragma unroll
        for (int i = 0; i < LANES; i++) {
            const int block = i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
            read[i] = make_uint4(0, 0, 0, 0);
            if (block >= 0 && group + i < end) read[i] = chunk_of(row, block * COLUMNS + chunk * ELEMENTS, p.width);
        }
        float products[LANES], squared[LANES];
        #pragma unroll
        for (int i = 0; i < LANES; i++) {
            const int at = min(group + i, DRAWS - 1);
            const float4* q = reinterpret_cast<const float4*>(drawn + (size_t)at * COLUMNS + chunk * ELEMENTS);
            #pragma unroll
            for (int e = 0; e < ELEMENTS; e += 4) {
                const float4 x = q[e / 4];
                const float v0 = element(read[i], e), v1 = element(read[i], e + 1);
                const float v2 = element(read[i], e + 2), v3 = element(read[i], e + 3);
                products[i] = e ? products[i] + v0 * x.x : v0 * x.x;
                squared[i] = e ? squared[i] + v0 * v0 : v0 * v0;
                products[i] = products[i] + v1 * x.y; squared[i] = squared[i] + v1 * v1;
                products[i] = products[i] + v2 * x.z; squared[i] = squared[i] + v2 * v2;
                products[i] = products[i] + v3 * x.w; squared[i] = squared[i] + v3 * v3;
            }
        }
        const int at = step + place;
        const bool reads = arm.position >= 0 && at < end;
        blocks_read += reads;
        float x = sum_of_chunks(products), mass = sum_of_chunks(squared);
        if (!reads) x = mass = 0.0f;
        Step s;
        s.inverse_weight = s.inverse_left = 0.0f;
        float2 inverse = make_float2(0.0f, 0.0f);
        if (reads) {
            const float4 loaded = *reinterpret_cast<const float4*>(order + at);
            s.inverse_weight = loaded.y;
            s.inverse_left = loaded.w;
            inverse = __ldg(p.inverse + at);
        }
        const float y = x * s.inverse_weight, u = fmaxf(mass * s.inverse_weight, y * y);
        Sums before;
        before.x = before_step<SIDE>(scan_sum<SIDE>(x), arm.sums.x);
        before.y = before_step<SIDE>(scan_sum<SIDE>(y), arm.sums.y);
        before.yy = before_step<SIDE>(scan_sum<SIDE>(y * y), arm.sums.yy);
        before.mass = before_step<SIDE>(scan_sum<SIDE>(mass), arm.sums.mass);
        before.u = before_step<SIDE>(scan_sum<SIDE>(u), arm.sums.u);
        if (arm.position >= 0 && !(arm.sums.mass <= square)) {
            work->bad_norm = p.epoch;
            work->bad_row = arm.position;
        }
        bool won = false;
        if (SIDE > SHORT_CAP) {                                 // the shortest race only looks
            const u32 side = SIDE == 32 ? ALL_LANES : ((1u << (SIDE & 31)) - 1u) << leader;
            Bet placed = bet(at, theta, square, before, y, u, s.inverse_left, inverse.x, inverse.y);
            float wealth = wealth_at_step<SIDE>(reads ? placed.factor : 1.0f, arm.wealth);
            won = __ballot_sync(ALL_LANES, reads && (placed.certain || wealth >= p.level)) & side;
            if (METRIC == ABSOLUTE) {                           // an arm is dropped if neither sign can reach the threshold
                before.x = -before.x;
                before.y = -before.y;
                placed = bet(at, theta, square, before, -y, u, s.inverse_left, inverse.x, inverse.y);
                wealth = wealth_at_step<SIDE>(reads ? placed.factor : 1.0f, arm.other_wealth);
                const bool other = __ballot_sync(ALL_LANES, reads && (placed.certain || wealth >= p.level)) & side;
                if (won) arm.wealth = INFINITE;                 // and stays so: factors are above 0
                if (other) arm.other_wealth = INFINITE;
                won = arm.wealth == INFINITE && arm.other_wealth == INFINITE;
            }
        }
        if (won) arm.position = -1;
        step += SIDE;
        const bool left = arm.position >= 0 && step >= end;
        // All that has weight was read: the sum is the score.
        const bool known = ends && (METRIC == ABSOLUTE ? fabsf(arm.sums.x) : arm.sums.x) < theta;
        const u32 pushed = __ballot_sync(ALL_LANES, left && !known && place == 0);
        if (pushed) {
            int at = 0;
            if (lane == 0) at = atomicAdd(&work->count[stage], __popc(pushed));
            at = __shfl_sync(ALL_LANES, at, 0) + __popc(pushed & ((1u << lane) - 1u));
            if (pushed >> lane & 1u) {
                if (at < p.capacity) keep(target + (size_t)at * 2, arm);
                const float promise = promise_of(p, limit, arm, __ldg(p.inverse + end).x, order[end].left);
                u64* slot = slots + row_at(p, arm.position) % p.slot_count;
                const u64 mine = (u64)order_of(promise) << 32 | ~(u32)arm.position;
                if (__ldcg(slot) < mine) atomicMax(slot, mine);
                const int index = arm.position / p.sample_stride;
                if (index * p.sample_stride == arm.position && index < p.samples)
                    p.sample[(size_t)query * p.samples + index] =
                        make_int4((int)(p.epoch * 4u + (u32)stage), __float_as_int(arm.sums.x), __float_as_int(arm.sums.y), __float_as_int(arm.sums.yy));
            }
        }
        if (left) arm.position = -1;
    }
    blocks_read = __reduce_add_sync(ALL_LANES, blocks_read);
    if (lane == 0 && blocks_read) atomicAdd(&work->blocks, (u64)blocks_read);
}
