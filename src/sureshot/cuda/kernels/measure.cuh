// One pass over whole rows: squared norms, largest values, and the inner products or distances of a first query.

struct Measure {
    const ROW* data;
    const QUERY* query;               // null: no sums are wanted
    const int* rows;
    double* square;
    double* sum;
    float* largest;
    int* outside;                     // a row with a value beyond the limits
    long long stride;
    double low, high;
    int n, width, pieces, piece, grid;
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
