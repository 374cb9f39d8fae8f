// How a thread waits for another one that is expected within microseconds.
#pragma once

#include <thread>

#include "compiler.hpp"

namespace sureshot {

// Waits a moment; now and then lets another thread run, which may be the one that is waited for.
inline void wait_a_moment(int spins) {
    if (spins % 64 == 63) {
        std::this_thread::yield();
        return;
    }
    pause_processor();
}

}  // namespace sureshot
