// Elements of rows as float32, exactly; loads of 16 bytes, or element by element where rows are not aligned.

__device__ __forceinline__ float value(float x) { return x; }
__device__ __forceinline__ float value(bfloat_bits x) { return __uint_as_float((u32)x.bits << 16); }
__device__ __forceinline__ float value(half_bits x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
__device__ __forceinline__ float value(signed char x) { return (float)x; }
__device__ __forceinline__ float value(u8 x) { return (float)x; }

union Chunk {
    uint4 words;
    ROW elements[16 / sizeof(ROW)];
};

// Data that is read once: past the first cache.
__device__ __forceinline__ uint4 streamed(const void* p) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}

// A chunk of a row that begins at `column`, zeros beyond the row's end.
__device__ __forceinline__ uint4 chunk_of(const ROW* row, int column, int width) {
    if (ALIGNED) return column < width ? streamed(row + column) : make_uint4(0, 0, 0, 0);
    Chunk c;
    c.words = make_uint4(0, 0, 0, 0);
    #pragma unroll
    for (int e = 0; e < 16 / (int)sizeof(ROW); e++)
        if (column + e < width) c.elements[e] = row[column + e];
    return c.words;
}

__device__ __forceinline__ float element(const uint4& words, int e) {   // e is known when compiling
    Chunk c;
    c.words = words;
    return value(c.elements[e]);
}
