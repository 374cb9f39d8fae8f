// The same product by the integer units of a card, for rows of 16 bits: rows and queries are rounded to whole numbers of 16
// bits, each in two bytes, and the products of bytes are added up without any error. Only for rows whose largest value is known.

constexpr int GRID_STEPS = 4;                                   // steps of 32 columns that are read together
constexpr int GRID_STAGES = 3;                                  // of the queries' numbers in shared memory
constexpr int GRID_ROWS = 16, GRID_WARPS = 8;                   // rows of a warp, warps of a block of threads

// x + 128 in the lower 16 bits, for the whole number x that is nearest to v * grid: |x| is below 2^15 - 128.
__device__ __forceinline__ u32 nearest_number(float v, float grid) { return __float_as_uint(fmaf(v, grid, 12582912.0f + 128.0f)); }

// Four numbers x = 256 upper + lower, one byte of each: both between -128 and 127.
struct Bytes { u32 upper, lower; };
__device__ __forceinline__ Bytes bytes_of(u32 a, u32 b, u32 c, u32 d) {
    const u32 first = __byte_perm(a, b, 0x5140), second = __byte_perm(c, d, 0x5140);
    return {__byte_perm(first, second, 0x7632), __byte_perm(first, second, 0x5410) ^ 0x80808080u};
}

// Sixteen rows times eight queries over 32 columns, in bytes.
__device__ __forceinline__ void multiply_bytes(int* sum, const u32* rows, u32 query_0, u32 query_1) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(query_0), "r"(query_1));
}

// The queries as the lanes of `multiply_integers` read them. Lane 4 g + t has query g of eight, and of each 32 columns
// the eight from 8 t on: upper bytes of the first four and of the last four, then the lower ones.
extern "C" __global__ void __launch_bounds__(THREADS, 2) pack(const __grid_constant__ Params p) {
    FOLLOWS;
    __shared__ int queries[TILE_QUERIES];
    __shared__ double largest[WARPS];
    const int query = blockIdx.y;
    Work* work = p.work + query;
    const int count = multiplied_queries(p, queries);
    int place = 0;
    while (place < count && queries[place] != query) place++;
    if (place == count) return;
    // No coordinate is larger than the root of the largest weight.
    double most = 0.0;
    for (int b = threadIdx.x; b < p.blocks; b += THREADS) most = fmax(most, __ldcg(p.weights + (size_t)query * p.blocks + b));
    #pragma unroll
    for (int o = 16; o; o >>= 1) most = fmax(most, __shfl_xor_sync(ALL_LANES, most, o));
    if (lane_of() == 0) largest[warp_of()] = most;
    __syncthreads();
    #pragma unroll
    for (int v = 0; v < WARPS; v++) most = fmax(most, largest[v]);
    const double grid = most > 0.0 ? LARGEST_NUMBER / sqrt(most * RAISED_WEIGHT) : 1.0;
    if (blockIdx.x == 0 && threadIdx.x == 0) work->grid_of_query = grid;
    if (p.parts > 1)
        for (int i = blockIdx.x * THREADS + threadIdx.x; i < p.n; i += p.grid * THREADS) p.totals[(size_t)query * p.n + i] = 0;
    const QUERY* q = p.query + (size_t)query * p.query_stride;
    u64 size = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < p.steps * 4; i += p.grid * THREADS) {
        u32 numbers[8];
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            const int column = i * 8 + e;
            const int x = column < p.width ? (int)rint((double)q[column] * grid) : 0;
            size += (u64)abs(x);
            numbers[e] = (u32)(x + 128);
        }
        const Bytes first = bytes_of(numbers[0], numbers[1], numbers[2], numbers[3]);
        const Bytes last = bytes_of(numbers[4], numbers[5], numbers[6], numbers[7]);
        const int step = i / 4, lane = (place & 7) * 4 + i % 4;
        p.packed[((size_t)step * 2 + place / 8) * 32 + lane] = make_uint4(first.upper, last.upper, first.lower, last.lower);
    }
    #pragma unroll
    for (int o = 16; o; o >>= 1) size += __shfl_xor_sync(ALL_LANES, size, o);
    if (lane_of() == 0) atomicAdd(&work->size, size);
}

// The ends of the score of an arm, by its sum of whole numbers, which is exact: what is off is the rounding of both sides, by at most a half.
__device__ __forceinline__ Between between_of_total(const Params& p, const Work* work, int row, long long total) {
    const double of_row = 1.0 / (double)p.grid_of_row[row], of_query = 1.0 / fresh(work->grid_of_query);
    const double square = fresh(work->square), raised = raised_square(p, row);
    const double error = HALF * of_query * (sqrt(raised * p.width) + (double)fresh(work->size) * of_row) + EXACT_SHARE * sqrt(raised * square);
    return between(p, row, (double)total * (of_row * of_query), error, square, p.square[row], 0.0);
}

// Each warp adds the products of sixteen rows and all queries over a part of the columns.
extern "C" __global__ void __launch_bounds__(GRID_WARPS * 32, 2) multiply_integers(const __grid_constant__ Params p) {
    FOLLOWS;
    if constexpr (sizeof(ROW) == 2) {
    __shared__ int queries[TILE_QUERIES];
    __shared__ QueryTerms asked[TILE_QUERIES];
    __shared__ float unit[TILE_QUERIES];                        // of sums of whole numbers, for the scaled query
    __shared__ __align__(16) uint4 copied[GRID_STAGES][GRID_STEPS * 2 * 32];
    const int count = multiplied_queries(p, queries);
    if (count == 0) return;
    if (threadIdx.x < count) {
        const Work* work = p.work + queries[threadIdx.x];
        const double scale = fresh(work->scale), of_query = scale / fresh(work->grid_of_query);
        unit[threadIdx.x] = (float)of_query;
        asked[threadIdx.x] = terms_of_query(work, HALF * of_query * sqrt((double)p.width) + EXACT_SHARE * sqrt(fresh(work->square)) * scale,
                                            HALF * of_query * (double)fresh(work->size));
    }
    __syncthreads();
    const int lane = lane_of(), g = lane >> 2, t = lane & 3, packs = count > 8 ? 2 : 1;
    const int tiles = (p.n + GRID_ROWS * GRID_WARPS - 1) / (GRID_ROWS * GRID_WARPS);
    const int reads = p.steps / GRID_STEPS, part = (reads + p.parts - 1) / p.parts;
    for (int item = blockIdx.x; item < tiles * p.parts; item += gridDim.x) {
        const int tile = item / p.parts, begin = (item - tile * p.parts) * part, end = min(reads, begin + part);
        const int own = (tile * GRID_WARPS + warp_of()) * GRID_ROWS + g;   // and the eighth after it
        const int rows[2] = {row_at(p, min(own, p.n - 1)), row_at(p, min(own + 8, p.n - 1))};
        const ROW* const from[2] = {p.data + (size_t)rows[0] * p.stride, p.data + (size_t)rows[1] * p.stride};
        const float grid[2] = {p.grid_of_row[rows[0]], p.grid_of_row[rows[1]]};
        int upper[2][4] = {}, middle[2][4] = {}, lower[2][4] = {};   // in units of 2^16, 2^8 and 1, for eight queries each
        uint4 next[GRID_STEPS][2];
        const auto fetch = [&](int read, int i) {
            #pragma unroll
            for (int r = 0; r < 2; r++) next[i][r] = chunk_of(from[r], (read * GRID_STEPS + i) * 32 + t * 8, p.width);
        };
        // The queries' numbers are the same for all warps: each of 256 threads copies 16 bytes of what is read two reads later.
        const auto copy = [&](int read) {
            if (read < end) copy_later(&copied[read % GRID_STAGES][threadIdx.x], p.packed + (size_t)read * GRID_STEPS * 2 * 32 + threadIdx.x);
            asm volatile("cp.async.commit_group;" ::: "memory");
        };
        __syncthreads();                                        // no warp reads what the tile before has left
        copy(begin);
        copy(begin + 1);
        if (begin < end)
            #pragma unroll
            for (int i = 0; i < GRID_STEPS; i++) fetch(begin, i);
        for (int read = begin; read < end; read++) {
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncthreads();
            copy(read + 2);
            #pragma unroll
            for (int i = 0; i < GRID_STEPS; i++) {
                u32 high[4], low[4];
                #pragma unroll
                for (int r = 0; r < 2; r++)
                    #pragma unroll
                    for (int h = 0; h < 2; h++) {
                        u32 x[4];
                        #pragma unroll
                        for (int e = 0; e < 4; e++) x[e] = nearest_number(element(next[i][r], (4 * h + e) % ELEMENTS), grid[r]);
                        const Bytes b = bytes_of(x[0], x[1], x[2], x[3]);
                        high[2 * h + r] = b.upper;
                        low[2 * h + r] = b.lower;
                    }
                if (read + 1 < end) fetch(read + 1, i);         // on its way while the rest is multiplied
                #pragma unroll
                for (int j = 0; j < 2; j++) {
                    if (j == packs) break;
                    const uint4 q = copied[read % GRID_STAGES][(i * 2 + j) * 32 + lane];
                    multiply_bytes(upper[j], high, q.x, q.y);
                    multiply_bytes(middle[j], high, q.z, q.w);
                    multiply_bytes(middle[j], low, q.x, q.y);
                    multiply_bytes(lower[j], low, q.z, q.w);
                }
            }
        }
        const float of_row[2] = {1.0f / grid[0], 1.0f / grid[1]};
        RowTerms terms[2];
        if (p.parts == 1)
            #pragma unroll
            for (int r = 0; r < 2; r++) terms[r] = terms_of_row(p, rows[r], of_row[r]);
        #pragma unroll
        for (int j = 0; j < 2; j++)
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                const int r = i / 2, position = own + 8 * r, place = 8 * j + 2 * t + i % 2;
                if (position >= p.n || place >= count) continue;
                const long long total = (long long)upper[j][i] * 65536 + (long long)middle[j][i] * 256 + lower[j][i];
                Work* work = p.work + queries[place];
                if (p.parts > 1) atomicAdd((u64*)(p.totals + (size_t)queries[place] * p.n + position), (u64)total);
                else if (!surely_below(size_of((float)total * (of_row[r] * unit[place])), asked[place], terms[r]))
                    list_arm(p, work, queries[place], position, between_of_total(p, work, rows[r], total));
            }
    }
    }
}
