// Queries of a batch for which every arm is evaluated share one pass over the rows: sums in float32, or of whole
// numbers, with a known error, then a list of the arms that may be among the best, which are evaluated in float64.

constexpr int TILE_ROWS = 64, TILE_QUERIES = 16, TILE_WARPS = 8;
constexpr int SLAB = sizeof(ROW) == 1 ? 64 : 128;               // bytes of a row that a warp reads at once
constexpr int SLAB_CHUNKS = SLAB / CHUNK, SLAB_COLUMNS = SLAB / sizeof(ROW);
constexpr int ROW_BYTES = SLAB + CHUNK;                         // in shared memory, so that rows use different banks
constexpr int QUERY_FLOATS = SLAB_COLUMNS + 4;
constexpr int STAGE_BYTES = TILE_ROWS * ROW_BYTES + TILE_QUERIES * QUERY_FLOATS * 4;

// Which queries are multiplied, in order; every block of threads finds the same. By all threads of it.
__device__ int multiplied_queries(const Params& p, int* out) {
    __shared__ int count;
    if (threadIdx.x < 32) {
        const bool mine = is_multiplied(p, threadIdx.x);
        const u32 all = __ballot_sync(ALL_LANES, mine);
        if (mine) out[__popc(all & ((1u << threadIdx.x) - 1u))] = threadIdx.x;
        if (threadIdx.x == 0) count = __popc(all);
    }
    __syncthreads();
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

// The ends of the score of an arm, by its sum in float32 with a scaled query.
__device__ __forceinline__ Between between_of_sum(const Params& p, const Work* work, int row, float sum) {
    const double square = fresh(work->square);
    return between(p, row, (double)sum / fresh(work->scale), p.product_share * sqrt(raised_square(p, row) * square), square, p.square[row], 0.0);
}

// Each warp adds the products of 64 rows and 16 queries over its own slabs of a part of the columns.
extern "C" __global__ void __launch_bounds__(TILE_WARPS * 32, 1) multiply(const __grid_constant__ Params p) {
    FOLLOWS;
    extern __shared__ __align__(16) char shared[];
    __shared__ int queries[TILE_QUERIES];
    __shared__ QueryTerms asked[TILE_QUERIES];
    __shared__ RowTerms rows_of_tile[TILE_ROWS];
    const int count = multiplied_queries(p, queries);
    if (count == 0) return;
    const int warp = warp_of(), lane = lane_of(), g = lane >> 2, t = lane & 3;
    char* own = shared + warp * 2 * STAGE_BYTES;
    const int tiles = (p.n + TILE_ROWS - 1) / TILE_ROWS;
    const int slabs = p.padded / SLAB_COLUMNS, part = (slabs + p.parts - 1) / p.parts;
    if (threadIdx.x < count) {
        const Work* work = p.work + queries[threadIdx.x];
        asked[threadIdx.x] = terms_of_query(work, p.product_share * sqrt(fresh(work->square)) * fresh(work->scale), 0.0);
    }
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
        if (p.parts == 1 && threadIdx.x < TILE_ROWS)
            rows_of_tile[threadIdx.x] = terms_of_row(p, row_at(p, min(tile * TILE_ROWS + (int)threadIdx.x, p.n - 1)), 0.0f);
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
            if (j >= count || position >= p.n) continue;
            if (p.parts > 1) p.products[((size_t)queries[j] * p.parts + (item - tile * p.parts)) * p.n + position] = all;
            else if (!surely_below(size_of(all), asked[j], rows_of_tile[c % TILE_ROWS]))
                list_arm(p, p.work + queries[j], queries[j], position, between_of_sum(p, p.work + queries[j], row_at(p, position), all));
        }
        __syncthreads();
    }
}
