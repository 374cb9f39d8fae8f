#include "cpu.hpp"

namespace sureshot {

std::vector<std::string> cpu_features() {
    std::vector<std::string> names;
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) names.emplace_back("avx2");
    if (__builtin_cpu_supports("fma")) names.emplace_back("fma");
    if (__builtin_cpu_supports("avx512f")) names.emplace_back("avx512f");
    if (__builtin_cpu_supports("avx512bw")) names.emplace_back("avx512bw");
    if (__builtin_cpu_supports("avx512vl")) names.emplace_back("avx512vl");
#elif defined(__aarch64__)
    names.emplace_back("neon");
#endif
    return names;
}

}  // namespace sureshot
