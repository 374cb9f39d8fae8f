#include "team.hpp"

#include <chrono>
#include <system_error>

namespace sureshot {
namespace {

// Below this many numbers a job is not worth starting a thread for, not worth telling anybody, or not worth
// splitting: a thread that is late with its piece is waited for.
constexpr std::int64_t numbers_for_a_start = std::int64_t{1} << 17;
constexpr std::int64_t numbers_for_a_job = std::int64_t{1} << 16;
constexpr std::int64_t numbers_for_a_piece = std::int64_t{1} << 13;

// Pieces for each thread: one that comes late, or is slower, takes fewer.
constexpr std::int64_t pieces_each = 8;

// Between two jobs of a search lies a little Python.
constexpr std::chrono::microseconds patience{3000};

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Whoever is waited for may be waiting for this very processor.
void rest(int spins) {
    if (spins % 64 == 63) {
        std::this_thread::yield();
    } else {
        pause();
    }
}

}  // namespace

Team::Team(int threads) : threads_(std::max(threads, 1)) {}

Team::~Team() {
    open_.store(over);
    open_.notify_all();
    for (auto& worker : workers_) worker.join();
}

void Team::start() {
    while (static_cast<std::int64_t>(workers_.size()) + 1 < threads_) {
        try {
            workers_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {
            threads_ = static_cast<std::int64_t>(workers_.size()) + 1;  // The system has no more to give.
        }
    }
}

std::int64_t Team::worthwhile_pieces(std::int64_t count, std::int64_t cost, std::int64_t grain) {
    const std::int64_t numbers = count * std::max<std::int64_t>(cost, 1);
    if (threads_ > 1 && workers_.empty() && numbers >= numbers_for_a_start) start();
    if (workers_.empty() || numbers < numbers_for_a_job) return 1;
    const std::int64_t wanted = std::clamp(count / grain, threads_, pieces_each * threads_);
    return std::min({wanted, count, numbers / numbers_for_a_piece});
}

void Team::run_pieces(const Job& job) noexcept {
    job_ = job;
    next_.store(0, std::memory_order_relaxed);
    jobs_ = jobs_ % 1000000 + 1;
    open_.store(jobs_);
    open_.notify_all();
    take_pieces();
    open_.store(closed);
    // A worker that comes from now on sees that the job is closed; one that came before is waited for.
    for (int spins = 0; inside_.load() != 0; ++spins) rest(spins);
}

void Team::take_pieces() noexcept {
    const Job job = job_;
    for (;;) {
        const std::int64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
        if (piece >= job.pieces) return;
        job.work(job.context, job.count * piece / job.pieces, job.count * (piece + 1) / job.pieces);
    }
}

void Team::serve() noexcept {
    int done = closed;
    auto since = std::chrono::steady_clock::now();
    for (int spins = 0;; ++spins) {
        const int job = open_.load();
        if (job == over) return;
        if (job != closed && job != done) {
            inside_.fetch_add(1);
            if (open_.load() == job) take_pieces();
            inside_.fetch_sub(1);
            done = job;
            since = std::chrono::steady_clock::now();
        } else if (spins % 64 == 0 && std::chrono::steady_clock::now() - since > patience) {
            open_.wait(job);
            since = std::chrono::steady_clock::now();
        } else {
            rest(spins);
        }
    }
}

}  // namespace sureshot
