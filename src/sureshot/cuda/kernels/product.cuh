// Queries of a batch for which every arm is evaluated share one pass over the rows: sums in float32, or of whole
// numbers, with a known error, then a list of the arms that may be among the best, which are evaluated in float64.

constexpr int TILE_ROWS = 64, TILE_QUERIES = 16, TILE_WARPS = 8;
constexpr int SLAB = sizeof(ROW) == 1 ? 64 : 128;               // bytes of a row that a warp reads at once
constexpr int SLAB_CHUNKS = SLAB / CHUNK, SLAB_COLUMNS = SLAB / sizeof(ROW);
constexpr int ROW_BYTES = SLAB + CHUNK;                         // in shared memory, so that rows use different banks
constexpr int QUERY_FLOATS = SLAB_COLUMNS + 4;
constexpr int STAGE_BYTES = TILE_ROWS * ROW_BYTES + TILE_QUERIES * QUERY_FLOATS * 4;

// Which queries are multiplied, in order; every block of threads finds the same.
__device__ int multiplied_queries(const Params& p, int* out) {
    int count = 0;
    for (int i = 0; i < p.batch; i++)
        if (fresh(p.work[i].state) == WHOLE && fresh(p.work[i].reason) != BEYOND_RANGE) out[count++] = i;
    return count;
}

__device__ __forceinline__ void copy_later(void* to, const void* from) {
    const u32 address = (u32)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(address), "l"(from) : "memory");
}

// The scaled queries in float32, one after the other, filled up with zeros: what `multiply` reads.
extern "C" __global__ void __launch_bounds__(THREADS, 2) narrow(const __grid_constant__ Params p) {
    FOLLOWS;
    const int query = blockIdx.y;
    if (fresh(p.work[query].state) != WHOLE) return;
    const QUERY* q = p.query + (size_t)query * p.query_stride;
    const double scale = fresh(p.work[query].scale);
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < p.padded; i += p.grid * THREADS)
        p.narrowed[(size_t)query * p.padded + i] = i < p.width ? (float)((double)q[i] * scale) : 0.0f;
}

// Each warp adds the products of 64 rows and 16 queries over its own slabs of a part of the columns.
extern "C" __global__ void __launch_bounds__(TILE_WARPS * 32, 1) multiply(const __grid_constant__ Params p) {
    FOLLOWS;
    extern __shared__ __align__(16) char shared[];
    __shared__ int queries[TILE_QUERIES];
    __shared__ int count;
    if (threadIdx.x == 0) count = multiplied_queries(p, queries);
    __syncthreads();
    if (count == 0) return;
    const int warp = warp_of(), lane = lane_of(), g = lane >> 2, t = lane & 3;
    char* own = shared + warp * 2 * STAGE_BYTES;
    const int tiles = (p.n + TILE_ROWS - 1) / TILE_ROWS;
    const int slabs = p.padded / SLAB_COLUMNS, part = (slabs + p.parts - 1) / p.parts;
    for (int item = blockIdx.x; item < tiles * p.parts; item += gridDim.x) {
        const int tile = item / p.parts, begin = (item - tile * p.parts) * part, end = min(slabs, begin + part);
        float sum[8][4];
        #pragma unroll
        for (int i = 0; i < 8; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++) sum[i][j] = 0.0f;
        const auto fetch = [&](int slab, int stage) {
            char* to = own + stage * STAGE_BYTES;
            const int column = slab * SLAB_COLUMNS;
            if (slab < end) {
                for (int c = lane; c < TILE_ROWS * SLAB_CHUNKS; c += 32) {
                    const int r = c / SLAB_CHUNKS, k = c % SLAB_CHUNKS;
                    const int position = min(tile * TILE_ROWS + r, p.n - 1), at = column + k * ELEMENTS;
                    const ROW* from = p.data + (size_t)row_at(p, position) * p.stride;
                    char* place = to + r * ROW_BYTES + k * CHUNK;
                    if (ALIGNED && at < p.width) copy_later(place, from + at);
                    else *reinterpret_cast<uint4*>(place) = chunk_of(from, at, p.width);
                }
                for (int c = lane; c < TILE_QUERIES * SLAB_COLUMNS / 4; c += 32) {
                    const int j = c / (SLAB_COLUMNS / 4), k = c % (SLAB_COLUMNS / 4);
                    copy_later(to + TILE_ROWS * ROW_BYTES + (j * QUERY_FLOATS + k * 4) * 4,
                               p.narrowed + (size_t)queries[min(j, count - 1)] * p.padded + column + k * 4);
                }
            }
            asm volatile("cp.async.commit_group;" ::: "memory");
        };
        fetch(begin + warp, 0);
        int stage = 0;
        for (int slab = begin + warp; slab < end; slab += TILE_WARPS) {
            fetch(slab + TILE_WARPS, stage ^ 1);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncwarp();
            const char* rows = own + stage * STAGE_BYTES;
            const float* q = reinterpret_cast<const float*>(rows + TILE_ROWS * ROW_BYTES);
            #pragma unroll 2
            for (int k = 0; k < SLAB_CHUNKS; k++) {
                uint4 read[8];
                #pragma unroll
                for (int i = 0; i < 8; i++) read[i] = *reinterpret_cast<const uint4*>(rows + (g + 8 * i) * ROW_BYTES + k * CHUNK);
                #pragma unroll
                for (int e = 0; e < ELEMENTS; e += 4) {
                    float4 x[4];
                    #pragma unroll
                    for (int j = 0; j < 4; j++) x[j] = *reinterpret_cast<const float4*>(q + (t + 4 * j) * QUERY_FLOATS + k * ELEMENTS + e);
                    #pragma unroll
                    for (int i = 0; i < 8; i++) {
                        const float v0 = element(read[i], e), v1 = element(read[i], e + 1);
                        const float v2 = element(read[i], e + 2), v3 = element(read[i], e + 3);
                        #pragma unroll
                        for (int j = 0; j < 4; j++)
                            sum[i][j] = fmaf(v3, x[j].w, fmaf(v2, x[j].z, fmaf(v1, x[j].y, fmaf(v0, x[j].x, sum[i][j]))));
                    }
                }
            }
            __syncwarp();
            stage ^= 1;
        }
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        float* sums = reinterpret_cast<float*>(shared);         // of all warps: 8 * 64 * 16
        #pragma unroll
        for (int i = 0; i < 8; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++) sums[(warp * TILE_QUERIES + t + 4 * j) * TILE_ROWS + g + 8 * i] = sum[i][j];
        __syncthreads();
        for (int c = threadIdx.x; c < TILE_QUERIES * TILE_ROWS; c += TILE_WARPS * 32) {
            const int j = c / TILE_ROWS, position = tile * TILE_ROWS + c % TILE_ROWS;
            float all = 0.0f;
            #pragma unroll
            for (int w = 0; w < TILE_WARPS; w++) all += sums[w * TILE_QUERIES * TILE_ROWS + c];
            if (j < count && position < p.n)
                p.products[((size_t)queries[j] * p.parts + (item - tile * p.parts)) * p.n + position] = all;
        }
        __syncthreads();
    }
}

// Scores that an arm surely reaches, and that it surely does not exceed, from its sum in float32.
struct Between { double low, high; };
__device__ __forceinline__ Between between(const Params& p, const Work* work, int query, int position) {
    const int row = row_at(p, position);
    const double own = p.square[row], raised = fmax(own * p.raised, (double)SMALLEST_SQUARE), square = fresh(work->square);
    double middle, error;
    if (p.grid_of_row) {
        // Sums of whole numbers are exact: what is off is the rounding of both sides, by at most a half.
        const double of_row = 1.0 / (double)p.grid_of_row[row], of_query = 1.0 / fresh(work->grid_of_query);
        middle = (double)__ldcg(p.totals + (size_t)query * p.n + position) * (of_row * of_query);
        error = HALF * of_query * (sqrt(raised * p.width) + (double)fresh(work->size) * of_row) + EXACT_SHARE * sqrt(raised * square);
    } else {
        float sum = 0.0f;
        for (int i = 0; i < p.parts; i++) sum += __ldcg(p.products + ((size_t)query * p.parts + i) * p.n + position);
        middle = (double)sum / fresh(work->scale);
        error = p.product_share * sqrt(raised * square);
    }
    Between b = {middle - error, middle + error};
    if (METRIC == SQUARED_DISTANCE) {
        const double both = own + square;
        b.low = 2.0 * b.low - both * (1.0 + EXACT_SHARE);
        b.high = 2.0 * b.high - both * (1.0 - EXACT_SHARE);
    } else {
        double factor = p.factor ? p.factor[row] : 1.0;
        if (METRIC == COSINE) factor = 1.0 / sqrt(own);
        if (METRIC == ABSOLUTE) b = {fmax(fabs(middle) - error, 0.0), fabs(middle) + error};
        b.low *= factor;
        b.high *= factor;
    }
    const double little = EXACT_SHARE * (fabs(b.low) + fabs(b.high));   // of these operations themselves
    b.low -= little;
    b.high += little;
    return b;
}

// Who may be among the best: those whose highest possible score reaches the k-th best of all lowest ones.
extern "C" __global__ void __launch_bounds__(THREADS, 2) screen(const __grid_constant__ Params p) {
    FOLLOWS;
    extern __shared__ __align__(16) char shared[];
    Merge& sm = *reinterpret_cast<Merge*>(shared);
    QUERY_OF_BLOCK;
    if (__syncthreads_or(fresh(work->state) != WHOLE || fresh(work->reason) == BEYOND_RANGE)) return;
    double* low = p.best_score + (size_t)query * p.best_capacity + p.k;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < p.n; i += p.grid * THREADS) __stcg(low + i, between(p, work, query, i).low);
    if (!last_to_arrive(&work->arrived[5], p.grid, &sm.flag)) return;
    int above;
    const double threshold = score_of_order(reached_by_k(low, p.n, p.k, p.k + p.k / 8, order_of(fresh(work->tau)), &above, sm));
    float4* target = p.records + (size_t)(query * 2) * p.capacity * 2;
    if (threadIdx.x == 0) sm.taken = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < p.n; i += THREADS) {
        if (between(p, work, query, i).high < threshold) continue;   // what is no number is evaluated, and refused
        if (__ldcg(p.mark + (size_t)query * p.n + i) == (int)p.epoch) continue;
        const int at = atomicAdd(&sm.taken, 1);
        if (at < p.capacity) target[(size_t)at * 2].x = __int_as_float(i);
    }
    __syncthreads();
    if (threadIdx.x == 0 && sm.taken <= p.capacity) {
        work->count[3] = sm.taken;
        work->state = RACING;
        work->reason = MULTIPLIED;
        work->rows += p.n;
    }
}
