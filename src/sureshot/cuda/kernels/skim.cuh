// One query and many short rows: a pass in float32 that lists the arms which may be among the best. It finds the norms on its
// way, so that it rests on none.

constexpr int AT_ONCE = 4;            // rows of a lane at once

__device__ __forceinline__ void add_skimmed(float* sum, float* square, const uint4* rows, const float* q) {
    #pragma unroll
    for (int e = 0; e < ELEMENTS; e += 4) {
        const float4 x = *reinterpret_cast<const float4*>(q + e);
        #pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const float v0 = element(rows[j], e), v1 = element(rows[j], e + 1), v2 = element(rows[j], e + 2), v3 = element(rows[j], e + 3);
            sum[j] = fmaf(v3, x.w, fmaf(v2, x.z, fmaf(v1, x.y, fmaf(v0, x.x, sum[j]))));
            square[j] = fmaf(v3, v3, fmaf(v2, v2, fmaf(v1, v1, fmaf(v0, v0, square[j]))));
        }
    }
}

// SPAN lanes of a warp have a row, a lane the chunks of its place. q: the scaled query in shared memory, zeros after it.
template <int SPAN> __device__ __forceinline__ void skim_rows(const Params& p, Work* work, const float* q) {
    constexpr int SIDES = 32 / SPAN, EACH = SIDES * AT_ONCE, STRIDE = SPAN * ELEMENTS;
    const int lane = lane_of(), place = lane % SPAN, side = lane / SPAN;
    const double square_of_query = fresh(work->square), scale = fresh(work->scale);
    const double raised = 1.0 + 2.0 * p.product_share;          // of a square in float32
    const QueryTerms terms = terms_of_query(work, p.product_share * sqrt(square_of_query) * scale, p.product_share * scale);
    const int groups = (p.n + EACH - 1) / EACH;
    for (int group = blockIdx.x * WARPS + warp_of(); group < groups; group += p.grid * WARPS) {
        const ROW* row[AT_ONCE];
        #pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const int position = min(group * EACH + j * SIDES + side, p.n - 1);
            row[j] = p.data + (size_t)row_at(p, position) * p.stride;
        }
        float sum[AT_ONCE] = {}, square[AT_ONCE] = {};
        for (int column = place * ELEMENTS; column < p.width; column += 2 * STRIDE) {
            uint4 a[AT_ONCE], b[AT_ONCE];
            #pragma unroll
            for (int j = 0; j < AT_ONCE; j++) { a[j] = chunk_of(row[j], column, p.width); b[j] = chunk_of(row[j], column + STRIDE, p.width); }
            add_skimmed(sum, square, a, q + column);
            add_skimmed(sum, square, b, q + column + STRIDE);
        }
        #pragma unroll
        for (int o = SPAN / 2; o; o >>= 1)
            #pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                sum[j] += __shfl_xor_sync(ALL_LANES, sum[j], o);
                square[j] += __shfl_xor_sync(ALL_LANES, square[j], o);
            }
        const float s = place == 0 ? sum[0] : place == 1 ? sum[1] : place == 2 ? sum[2] : sum[3];
        const float v = place == 0 ? square[0] : place == 1 ? square[1] : place == 2 ? square[2] : square[3];
        const int position = group * EACH + place * SIDES + side;
        if (place >= AT_ONCE || position >= p.n) continue;
        const int own_row = METRIC == COSINE || p.factor ? row_at(p, position) : 0;
        const RowTerms own = {times_of(p, own_row), METRIC == SQUARED_DISTANCE ? 0.5f * v : 0.0f, sqrtf(fmaxf(v, SMALLEST_SQUARE)),
                              METRIC == SQUARED_DISTANCE ? fmaxf(v, SMALLEST_SQUARE) : 0.0f};
        if (surely_below(size_of(s), terms, own)) continue;
        const double longest = fmax((double)v, (double)SMALLEST_SQUARE) * raised;
        list_arm(p, work, 0, position, between(p, own_row, (double)s / scale, p.product_share * sqrt(longest * square_of_query), square_of_query, v, p.product_share * longest));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) skim(const __grid_constant__ Params p) {
    FOLLOWS;
    extern __shared__ __align__(16) char shared[];
    float* q = reinterpret_cast<float*>(shared);
    Work* work = p.work;
    if (__syncthreads_or(fresh(work->state) != WHOLE || fresh(work->reason) == BEYOND_RANGE)) return;
    const double scale = fresh(work->scale);
    for (int i = threadIdx.x; i < p.padded; i += THREADS) q[i] = i < p.width ? (float)((double)p.query[i] * scale) : 0.0f;
    __syncthreads();
    if (p.width <= 64 * ELEMENTS) skim_rows<8>(p, work, q);
    else skim_rows<32>(p, work, q);
}
