// What a compiler has besides the language, and what stands in for it where it has not. GCC and Clang, also Apple's and
// clang-cl, have all of it; other compilers, and a build with SURESHOT_PLAIN, get plain C++, which is slower and gives the
// same bits. For kernels these are static: each file has a copy of its own, made for its instruction set.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(SURESHOT_PLAIN)
#define SURESHOT_EXTENSIONS
#if defined(__x86_64__)
#define SURESHOT_X86
#include <immintrin.h>
#endif
#endif

// Before a short loop of a fixed length. Left rolled up it becomes one vector operation, while copies of
// its body, which GCC makes first if it may, stay copies. Inside a loop that is to become vectors it must
// be unrolled, which GCC does not do by itself if its body is long; and it must know that no step needs another.
#if defined(SURESHOT_EXTENSIONS) && !defined(__clang__)
#define SURESHOT_ONE_VECTOR _Pragma("GCC unroll 1")
#define SURESHOT_UNROLLED _Pragma("GCC unroll 16")
#define SURESHOT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SURESHOT_ONE_VECTOR
#define SURESHOT_UNROLLED
#define SURESHOT_INDEPENDENT
#endif

// Before a function with a loop that needs all registers: merged with others it would get fewer, and take
// as long to compile in every place where it is used.
#if defined(SURESHOT_EXTENSIONS)
#define SURESHOT_ALONE __attribute__((noinline))
#else
#define SURESHOT_ALONE
#endif

namespace sureshot {

constexpr double infinite = std::numeric_limits<double>::infinity();

#if defined(SURESHOT_EXTENSIONS)
// Unlike those of the standard library these are part of no other file, for another processor.
static inline double magnitude_of(double value) { return __builtin_fabs(value); }
static inline float magnitude_of(float value) { return __builtin_fabsf(value); }
static inline double square_root(double value) { return __builtin_sqrt(value); }
static inline void copy_bytes(void* to, const void* from, std::size_t bytes) { __builtin_memcpy(to, from, bytes); }
#else
static inline double magnitude_of(double value) { return std::fabs(value); }
static inline float magnitude_of(float value) { return std::fabs(value); }
static inline double square_root(double value) { return std::sqrt(value); }
static inline void copy_bytes(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
#endif

// Into the second-level cache: it has more lines on their way at a time than the first, which doubles the
// speed at which scattered lines arrive.
static inline void fetch_ahead([[maybe_unused]] const void* address) {
#if defined(SURESHOT_EXTENSIONS)
    __builtin_prefetch(address, 0, 2);
#endif
}

// Into the first-level cache, for what comes next.
static inline void fetch_nearest([[maybe_unused]] const void* address) {
#if defined(SURESHOT_EXTENSIONS)
    __builtin_prefetch(address);
#endif
}

// Tells the processor that a loop only waits.
static inline void pause_processor() {
#if defined(SURESHOT_X86)
    __builtin_ia32_pause();
#elif defined(SURESHOT_EXTENSIONS) && defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

}  // namespace sureshot
