// What the kernels share: sizes, the parameters of a launch, the state of a query. See docs/gpu.md.
//
// The compiler gives ROW (an element type of rows.cuh), QUERY (float or double), ALIGNED, the constants
// of rounding.py and the sizes of plan.py as macros.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

struct half_bits { u16 bits; };
struct bfloat_bits { u16 bits; };

#define ALL_LANES 0xffffffffu
constexpr int THREADS = 512;          // of every block of threads
constexpr int WARPS = THREADS / 32;
constexpr int CHUNK = 16;             // bytes that a thread loads at once
constexpr int LANES = 4;              // threads that read a block of a row together
constexpr int ELEMENTS = CHUNK / sizeof(ROW);
constexpr int COLUMNS = LANES * ELEMENTS;   // of a block
constexpr int ROUND = 16;             // steps of an arm whose sums are put together
constexpr int TOGETHER = 4;           // rows that a block of threads evaluates at once

// How a query goes on.
enum { RACING = 0, WHOLE = 1, ANSWERED = 2 };
// Why every arm that was left has been evaluated.
enum { NO_REASON = 0, ASKED = 1, NO_HOPE = 2, BEYOND_RANGE = 3, TOO_MANY = 4, MULTIPLIED = 7, SKIMMED = 9, AGAIN = 10 };   // the host knows more of them
enum { INNER_PRODUCT = 0, ABSOLUTE = 1, COSINE = 2, SQUARED_DISTANCE = 3 };

struct Step {                         // of an order
    int block;
    float inverse_weight;
    float left, inverse_left;         // weight of all that is not drawn before this step
};

struct Work {                         // of one query; the host reads it
    double tau;                       // the k-th best score so far
    double square;                    // |q|^2
    double weight;                    // of all blocks, as drawn, of the scaled query
    double scale;                     // a power of two that the races multiply the query with
    u64 blocks, rows;                 // read by races, read whole
    double grid_of_query;             // numbers of 16 bits are multiples of its inverse, where the query is multiplied in them
    u64 size;                         // the sum of their absolute values
    int steps, complete;              // of the order; whether nothing of weight is left
    int state, reason, stage;
    u32 bad_query, bad_score;         // the last epoch in which a coordinate, a score was not finite
    u32 bad_norm;                     // and in which a row was longer than its norm
    int bad_row;
    int begin, end;                   // steps of the next race
    int found;                        // scores in the list
    int count[4];                     // arms left after each race
    int queue[8], arrived[8];         // counters of the kernels
    float cost[2];                    // predicted share of the steps, after the first races
    int listed;                       // arms that may be among the best, by sums with a known error
    u32 epoch;                        // last: tells the host that all is there
};

struct Params {
    const ROW* data;
    const QUERY* query;
    const double* square;             // of each row's norm, or of an upper bound of it
    const double* factor;             // of each row's score, or null
    const int* rows;                  // position -> row, or null: all rows
    const int* leaders;               // positions of the rows that are evaluated first
    const float2* inverse;            // 1/s and 1/(s - 1)
    double* weights;
    Step* order;
    int* drawn_blocks;                // of the order, once more
    float* drawn;                     // the query's blocks in drawn order
    u64* slots;
    int4* sample;
    Work* work;
    int* mark;                        // epoch in which a position was evaluated; null where nothing is raced and all are listed
    float4* records;                  // two lists of arms that are left
    int* best_arm;
    double* best_score;
    u64* lows;                        // of each group of positions the highest score that is surely reached; null: nothing is listed
    double* partial;
    float* narrowed;                  // the queries of a batch in float32
    float* products;                  // and their sums with every row
    const float* grid_of_row;         // or null: as grid_of_query
    uint4* packed;                    // the queries in such numbers
    long long* totals;                // and their sums with every row
    int* out_arm;                     // host memory from here
    double* out_score;
    Work* out_work;
    long long stride, query_stride;   // in elements
    double epsilon;
    double most_cost;                 // share of the steps beyond which racing on does not pay
    double product_share;             // error of such a sum, as a share of the norms
    double raised;                    // factor of squared norms that covers rounding
    u64 seed;
    int n, width, blocks;             // searched positions, columns, blocks of a row
    int k, first, slot_count;
    int few, capacity, best_capacity; // sizes of buffers
    int pieces, piece;                // of a row that is evaluated; piece in units
    int direct, low, high, second, third, chance;   // caps of plan.py
    int sample_stride, samples, least_pruned;
    int batch, padded, parts, steps;  // of products: queries, columns with zeros after them, parts of the columns, steps of 32 columns
    int whole;                        // why every arm is evaluated, or 0
    float level;                      // wealth at which an arm is dropped
    float per_spread;                 // steps that an arm needs if its spread is its distance squared
    u32 epoch;
    int grid, stage;
};

constexpr int MERGED = 3072;          // most scores that are ranked at once

// A kernel may be launched before the one that it follows has ended; it must wait for what that has written.
#if __CUDA_ARCH__ >= 900
#define FOLLOWS asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define FOLLOWS
#endif
#define QUERY_OF_BLOCK const int query = blockIdx.y; Work* work = p.work + query

template <typename T> __device__ __forceinline__ T fresh(const T& x) { return *(const volatile T*)&x; }
__device__ __forceinline__ int lane_of() { return threadIdx.x & 31; }
__device__ __forceinline__ int warp_of() { return threadIdx.x >> 5; }

// True in the block of threads that arrives last; what the others wrote before is visible there.
__device__ __forceinline__ bool last_to_arrive(int* counter, int expected, int* flag) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const int last = atomicAdd(counter, 1) == expected - 1;
        if (last) __threadfence();
        *flag = last;
    }
    __syncthreads();
    return *flag;
}
