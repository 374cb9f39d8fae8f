// One pass over whole rows: squared norms, largest values, and the inner products or distances of a first query.

struct Measure {
    const ROW* data;
    const QUERY* query;               // null: no sums are wanted
    const int* rows;
    double* square;
    double* sum;
    float* largest;
    int* outside;                     // a row with a value beyond the limits
    double* part;                     // of columns that lie side by side: sums and squares of each split
    int* arrived;
    long long stride, column_stride;
    double low, high;
    int n, width, pieces, piece, grid, splits;
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) measure(const __grid_constant__ Measure p) {
    constexpr int ROWS = 4;
    __shared__ double sums[2][WARPS][ROWS];
    __shared__ float tops[WARPS][ROWS];
    for (int group = blockIdx.x; group * ROWS < p.n; group += p.grid) {
        const ROW* row[ROWS];
        #pragma unroll
        for (int j = 0; j < ROWS; j++) {
            const int position = min(group * ROWS + j, p.n - 1);
            row[j] = p.data + (size_t)(p.rows ? p.rows[position] : position) * p.stride;
        }
        double squares = 0.0, products = 0.0;
        float top[ROWS] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int piece = 0; piece < p.pieces; piece++) {
            double square[ROWS] = {0.0, 0.0, 0.0, 0.0}, product[ROWS] = {0.0, 0.0, 0.0, 0.0};
            const int stop = (int)min((long long)p.width, (long long)(piece + 1) * p.piece * UNIT);
            #pragma unroll 2
            for (int column = piece * p.piece * UNIT + threadIdx.x * ELEMENTS; column < stop; column += UNIT) {
                uint4 read[ROWS];
                #pragma unroll
                for (int j = 0; j < ROWS; j++) read[j] = chunk_of(row[j], column, p.width);
                Coordinates c;
                if (p.query) c = coordinates(p.query, column, p.width);
                #pragma unroll
                for (int e = 0; e < ELEMENTS; e++)
                    #pragma unroll
                    for (int j = 0; j < ROWS; j++) {
                        const float v = element(read[j], e);
                        square[j] = fma((double)v, (double)v, square[j]);   // the product is exact
                        if (p.query) product[j] = plus(product[j], v, c.x[e]);
                        top[j] = fmaxf(top[j], fabsf(v));
                        if (column + e < p.width && !(v >= p.low && v <= p.high)) *p.outside = group * ROWS + j;
                    }
            }
            squares += sum_of_lanes(square);
            products += sum_of_lanes(product);
        }
        #pragma unroll
        for (int j = 0; j < ROWS; j++)
            #pragma unroll
            for (int o = 16; o; o >>= 1) top[j] = fmaxf(top[j], __shfl_xor_sync(ALL_LANES, top[j], o));
        __syncthreads();
        if ((lane_of() & 7) == 0) {
            const int j = row_of_lane();
            sums[0][warp_of()][j] = squares;
            sums[1][warp_of()][j] = products;
            tops[warp_of()][j] = j == 0 ? top[0] : j == 1 ? top[1] : j == 2 ? top[2] : top[3];
        }
        __syncthreads();
        if (threadIdx.x < WARPS * ROWS) {
            const int w = threadIdx.x & (WARPS - 1), j = threadIdx.x / WARPS, position = group * ROWS + j;
            const double square = sum_of_warps(sums[0][w][j]), product = sum_of_warps(sums[1][w][j]);
            float largest = tops[w][j];
            #pragma unroll
            for (int o = 8; o; o >>= 1) largest = fmaxf(largest, __shfl_xor_sync(ALL_LANES, largest, o));
            if (w == 0 && position < p.n) {
                p.square[position] = square;
                p.largest[position] = largest;
                if (p.query) p.sum[position] = product;
            }
        }
    }
}

// The same of short rows, four for each warp at once, in the same order: see short_rows.cuh.
extern "C" __global__ void __launch_bounds__(THREADS, 1) measure_short(const __grid_constant__ Measure p) {
    const int groups = (p.n + TOGETHER - 1) / TOGETHER;
    for (int group = blockIdx.x * WARPS + warp_of(); group < groups; group += p.grid * WARPS) {
        const ROW* row[TOGETHER];
        #pragma unroll
        for (int j = 0; j < TOGETHER; j++) {
            const int position = min(group * TOGETHER + j, p.n - 1);
            row[j] = p.data + (size_t)(p.rows ? p.rows[position] : position) * p.stride;
        }
        double squares[WARPS], products[WARPS];
        float top[TOGETHER] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int w = 0; w < WARPS; w++) {
            squares[w] = products[w] = 0.0;
            if (w * 32 * ELEMENTS >= p.width) continue;         // the same for all lanes
            const int column = (w * 32 + lane_of()) * ELEMENTS;
            double square[TOGETHER] = {0.0, 0.0, 0.0, 0.0}, product[TOGETHER] = {0.0, 0.0, 0.0, 0.0};
            if (column < p.width) {
                uint4 read[TOGETHER];
                #pragma unroll
                for (int j = 0; j < TOGETHER; j++) read[j] = chunk_of(row[j], column, p.width);
                Coordinates c;
                if (p.query) c = coordinates(p.query, column, p.width);
                #pragma unroll
                for (int e = 0; e < ELEMENTS; e++)
                    #pragma unroll
                    for (int j = 0; j < TOGETHER; j++) {
                        const float v = element(read[j], e);
                        square[j] = fma((double)v, (double)v, square[j]);
                        if (p.query) product[j] = plus(product[j], v, c.x[e]);
                        top[j] = fmaxf(top[j], fabsf(v));
                        if (column + e < p.width && !(v >= p.low && v <= p.high)) *p.outside = min(group * TOGETHER + j, p.n - 1);
                    }
            }
            squares[w] = squares[w] + sum_of_lanes(square);
            products[w] = products[w] + sum_of_lanes(product);
        }
        #pragma unroll
        for (int j = 0; j < TOGETHER; j++)
            #pragma unroll
            for (int o = 16; o; o >>= 1) top[j] = fmaxf(top[j], __shfl_xor_sync(ALL_LANES, top[j], o));
        const double square = fold_of_warps(squares), product = fold_of_warps(products);
        const int j = row_of_lane(), position = group * TOGETHER + j;
        if ((lane_of() & 7) == 0 && position < p.n) {
            p.square[position] = square;
            p.largest[position] = j == 0 ? top[0] : j == 1 ? top[1] : j == 2 ? top[2] : top[3];
            if (p.query) p.sum[position] = product;
        }
    }
}

// The same of data whose columns lie side by side: a thread has a row, a block of threads a split of the columns.
extern "C" __global__ void __launch_bounds__(THREADS, 2) measure_columns(const __grid_constant__ Measure p) {
    __shared__ int last;
    const int position = blockIdx.x * THREADS + threadIdx.x, own = min(position, p.n - 1);
    const size_t row = p.rows ? p.rows[own] : own;
    const int begin = (int)((long long)p.width * blockIdx.y / p.splits), end = (int)((long long)p.width * (blockIdx.y + 1) / p.splits);
    double square = 0.0, sum = 0.0;
    float top = 0.0f;
    bool outside = false;
    #pragma unroll 8
    for (int column = begin; column < end; column++) {
        const float v = value(p.data[(size_t)column * p.column_stride + row]);
        square = fma((double)v, (double)v, square);
        if (p.query) sum = plus(sum, v, __ldg(p.query + column));
        top = fmaxf(top, fabsf(v));
        outside = outside || !(v >= p.low && v <= p.high);
    }
    double* part = p.part + (size_t)blockIdx.y * p.n * 3;
    if (position < p.n) {
        __stcg(part + position, square);
        __stcg(part + p.n + position, sum);
        __stcg(part + 2 * (size_t)p.n + position, (double)top);
        if (outside) *p.outside = position;
    }
    if (!last_to_arrive(p.arrived + blockIdx.x, p.splits, &last) || position >= p.n) return;
    square = sum = 0.0;
    top = 0.0f;
    for (int i = 0; i < p.splits; i++) {                        // in this order, whoever was the last
        part = p.part + (size_t)i * p.n * 3;
        square += __ldcg(part + position);
        sum += __ldcg(part + p.n + position);
        top = fmaxf(top, (float)__ldcg(part + 2 * (size_t)p.n + position));
    }
    p.square[position] = square;
    p.largest[position] = top;
    if (p.query) p.sum[position] = sum;
}
