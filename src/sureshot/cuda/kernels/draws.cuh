// Random tickets: Philox4x32-10 and a uniform number below a limit. Plain C++, also compiled for the host by the tests.

#ifndef __CUDACC__
struct Words { u32 x, y, z, w; };
static inline u64 high_product(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }
#define ANYWHERE static inline
#else
struct Words { u32 x, y, z, w; };
__device__ __forceinline__ u64 high_product(u64 a, u64 b) { return __umul64hi(a, b); }
#define ANYWHERE __device__ __forceinline__
#endif

ANYWHERE u64 random_word(u64 seed, u32 draw, u32 attempt) {
    u32 x = draw, y = attempt, z = 0, w = 0, k0 = (u32)seed, k1 = (u32)(seed >> 32);
    for (int r = 0; r < 10; r++) {
        const u64 a = (u64)0xD2511F53u * x, b = (u64)0xCD9E8D57u * z;
        x = (u32)(b >> 32) ^ y ^ k0;
        y = (u32)b;
        z = (u32)(a >> 32) ^ w ^ k1;
        w = (u32)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (u64)x << 32 | y;
}

// One of `total` tickets, each with the same probability: what would favour some of them is drawn again.
ANYWHERE u64 random_ticket(u64 seed, u32 draw, u64 total) {
    const u64 surplus = (0ull - total) % total;
    for (u32 attempt = 0;; attempt++) {
        const u64 word = random_word(seed, draw, attempt);
        if (word * total >= surplus) return high_product(word, total);
    }
}

// Whole tickets of a weight, rounded up: all of them weigh 2^(exponent - TICKET_BITS), the largest weight is below 2^exponent.
ANYWHERE u64 tickets_of(double weight, double inverse_unit) {
    return weight > 0.0 ? (u64)(weight * inverse_unit) + 1ull : 0ull;
}
