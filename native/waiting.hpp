// How a thread waits for another one that is expected within microseconds.
#pragma once

#include <thread>

namespace sureshot {

// Waits a moment; now and then lets another thread run, which may be the one that is waited for.
inline void wait_a_moment(int spins) {
    if (spins % 64 == 63) {
        std::this_thread::yield();
        return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace sureshot
