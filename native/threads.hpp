// A team of threads for one call. No pool and no OpenMP: both break after fork, and starting a
// thread costs about 20 microseconds, which the callers only pay when there is enough to read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace sureshot {

// Runs work(begin, end) over [0, count) on at most `threads` threads. `cost` is how many numbers one
// item reads; below about 2^16 numbers a thread costs more than it saves.
// Every item is handled whole by one thread, so results never depend on the number of threads.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t cost, int threads, const Work& work) {
    constexpr std::int64_t numbers_per_thread = std::int64_t{1} << 16;
    const std::int64_t numbers = count * std::max<std::int64_t>(cost, 1);
    const std::int64_t useful = std::max<std::int64_t>(1, numbers / numbers_per_thread);
    const std::int64_t team = std::min({std::int64_t{threads}, useful, std::max<std::int64_t>(count, 1)});
    std::vector<std::thread> others;
    others.reserve(static_cast<std::size_t>(team - 1));
    for (std::int64_t member = 1; member < team; ++member) {
        others.emplace_back([&work, count, team, member] {
            work(count * member / team, count * (member + 1) / team);
        });
    }
    work(0, count / team);
    for (auto& other : others) other.join();
}

}  // namespace sureshot
