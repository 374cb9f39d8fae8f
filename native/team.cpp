#include "team.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace sureshot {
namespace {

// Below this many numbers a part costs more than it saves: a thread must be started for it, or only
// told.
constexpr std::int64_t numbers_for_a_start = std::int64_t{1} << 16;
constexpr std::int64_t numbers_for_a_part = std::int64_t{1} << 14;

// Between two jobs of one round lies a little Python: a thread that slept would have to be woken by
// the system each time, which costs as much as a start.
constexpr std::chrono::microseconds patience{1000};

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Returns as soon as the value is not `old`: spins for a while, then sleeps.
int wait_while(const std::atomic<int>& value, int old) noexcept {
    const auto start = std::chrono::steady_clock::now();
    do {
        for (int spin = 0; spin < 32; ++spin) {
            const int now = value.load(std::memory_order_acquire);
            if (now != old) return now;
            pause();
        }
    } while (std::chrono::steady_clock::now() - start < patience);
    value.wait(old, std::memory_order_acquire);
    return value.load(std::memory_order_acquire);
}

}  // namespace

Team::Team(int threads) : threads_(std::max(threads, 1)) {}

Team::~Team() {
    hand_out({}, members() - 1);
    for (auto& worker : workers_) worker->thread.join();
}

std::int64_t Team::ready_parts(std::int64_t count, std::int64_t cost) {
    const std::int64_t numbers = count * std::max<std::int64_t>(cost, 1);
    const std::int64_t most = std::min(threads_, std::max<std::int64_t>(count, 1));
    start(std::min(most, numbers / numbers_for_a_start));
    return std::clamp<std::int64_t>(numbers / numbers_for_a_part, 1, std::min(most, members()));
}

void Team::start(std::int64_t wanted) {
    while (members() < wanted) {
        Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
        try {
            worker.thread = std::thread([this, &worker, part = members() - 1] { serve(worker, part); });
        } catch (const std::system_error&) {
            workers_.pop_back();  // The system has no more threads to give: those we have do the work.
            return;
        }
    }
}

void Team::hand_out(const Job& job, std::int64_t workers) noexcept {
    job_ = job;
    for (std::int64_t w = 0; w < workers; ++w) {
        std::atomic<int>& jobs = workers_[static_cast<std::size_t>(w)]->jobs;
        jobs.fetch_add(1, std::memory_order_release);
        jobs.notify_one();
    }
}

void Team::run_parts(const Job& job) noexcept {
    int left = static_cast<int>(job.parts - 1);
    unfinished_.store(left, std::memory_order_relaxed);
    hand_out(job, job.parts - 1);
    job.do_part(0);
    while (left > 0) left = wait_while(unfinished_, left);
}

void Team::serve(const Worker& worker, std::int64_t part) noexcept {
    int done = 0;
    for (;;) {
        done = wait_while(worker.jobs, done);
        if (job_.work == nullptr) return;
        job_.do_part(part);
        if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
    }
}

}  // namespace sureshot
