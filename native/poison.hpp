// Memory that is handed out in pieces, marked for AddressSanitizer: it knows where an allocation ends, but not where a
// piece of it does.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SURESHOT_POISON
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SURESHOT_POISON
#endif
#endif

#ifdef SURESHOT_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace sureshot {

#ifdef SURESHOT_POISON
// Left unused after each piece, so that there is something to run into.
constexpr std::size_t bytes_between_pieces = 64;

// Whoever reads or writes this memory makes a mistake; no longer.
inline void poison(void* memory, std::size_t bytes) { ASAN_POISON_MEMORY_REGION(memory, bytes); }
inline void cleanse(void* memory, std::size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(memory, bytes); }
#else
constexpr std::size_t bytes_between_pieces = 0;

inline void poison(void*, std::size_t) {}
inline void cleanse(void*, std::size_t) {}
#endif

}  // namespace sureshot
