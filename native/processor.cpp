#include "processor.hpp"

#include <cstdint>

#if defined(_MSC_VER) && defined(_M_X64)
#define SURESHOT_CPUID
#include <immintrin.h>
#include <intrin.h>
#elif defined(__x86_64__)
#define SURESHOT_CPUID
#include <cpuid.h>
#endif

namespace sureshot {

#if defined(SURESHOT_CPUID)
namespace {

// The answers of the instruction CPUID. The functions of GCC for it need a part of its library that Windows lacks.
struct Answer {
    std::uint32_t a, b, c, d;
};

Answer ask(std::uint32_t leaf) {
#if defined(_MSC_VER)
    int highest[4], answer[4];
    __cpuid(highest, 0);
    if (static_cast<std::uint32_t>(highest[0]) < leaf) return {};
    __cpuidex(answer, static_cast<int>(leaf), 0);
    return {static_cast<std::uint32_t>(answer[0]), static_cast<std::uint32_t>(answer[1]),
            static_cast<std::uint32_t>(answer[2]), static_cast<std::uint32_t>(answer[3])};
#else
    Answer found{};
    __get_cpuid_count(leaf, 0, &found.a, &found.b, &found.c, &found.d);
    return found;
#endif
}

// Which registers the system saves when it changes threads.
std::uint32_t saved_registers() {
#if defined(_MSC_VER)
    return static_cast<std::uint32_t>(_xgetbv(0));
#else
    std::uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
#endif
}

constexpr std::uint32_t bit(int place) { return std::uint32_t{1} << place; }
constexpr bool all(std::uint32_t bits, std::uint32_t wanted) { return (bits & wanted) == wanted; }

bool saves(std::uint32_t registers) {
    constexpr std::uint32_t xgetbv = bit(27);
    return all(ask(1).c, xgetbv) && all(saved_registers(), registers);
}

}  // namespace

bool has_v3() {
    constexpr std::uint32_t fma = bit(12), half_floats = bit(29), movbe = bit(22);  // leaf 1, c
    constexpr std::uint32_t bmi = bit(3), avx2 = bit(5), bmi2 = bit(8);             // leaf 7, b
    constexpr std::uint32_t sse = bit(1), avx = bit(2);                             // registers
    return saves(sse | avx) && all(ask(1).c, fma | half_floats | movbe) && all(ask(7).b, bmi | avx2 | bmi2);
}

bool has_v4() {
    constexpr std::uint32_t foundation = bit(16), dq = bit(17), cd = bit(28), bw = bit(30), vl = bit(31);  // leaf 7, b
    constexpr std::uint32_t masks = bit(5), upper_halves = bit(6), more = bit(7);                        // registers
    return has_v3() && saves(masks | upper_halves | more) && all(ask(7).b, foundation | dq | cd | bw | vl);
}
#else
bool has_v3() { return false; }
bool has_v4() { return false; }
#endif

}  // namespace sureshot
