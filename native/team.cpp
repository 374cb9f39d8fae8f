#include "team.hpp"

#include <system_error>

namespace sureshot {
namespace {

// Below this many numbers a job is not worth starting threads for, not worth waking them, or not worth
// another piece: the job ends when its slowest piece does.
constexpr std::int64_t numbers_for_a_start = std::int64_t{1} << 17;
constexpr std::int64_t numbers_for_a_job = std::int64_t{1} << 16;
constexpr std::int64_t numbers_for_a_piece = std::int64_t{1} << 13;

// Pieces for each thread: one that starts late, or is slower, takes fewer.
constexpr std::int64_t pieces_each = 8;

// Numbers of a piece at most, since threads check between two pieces whether to stop: some ten milliseconds
// of scattered reads.
constexpr std::int64_t numbers_for_a_check = std::int64_t{1} << 22;

// Between two checks for a signal. A check takes Python's lock, which another of its threads may hold for a
// while.
constexpr std::chrono::milliseconds between_checks{40};

// Pieces begin with a multiple of this if they are long: kernels read as many rows side by side.
constexpr std::int64_t rows_together = 4;

// A thread stays awake for this long after a job: between two jobs of a search runs a little Python.
constexpr std::chrono::microseconds awake_after_job{3000};

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Waits a moment; now and then lets another thread run, which may be the one that is waited for.
void wait_a_moment(int spins) {
    if (spins % 64 == 63) {
        std::this_thread::yield();
    } else {
        pause();
    }
}

}  // namespace

Team::Team(int threads, Ask* interrupted)
    : threads_(std::max(threads, 1)),
      stop_(std::make_shared<std::atomic<bool>>(false)),
      interrupted_(interrupted),
      next_check_(std::chrono::steady_clock::now() + between_checks) {}

Team::Team(int threads, const Team& other)
    : threads_(std::max(threads, 1)), stop_(other.stop_), interrupted_(nullptr) {}

Team::~Team() { dismiss(); }

void Team::dismiss() noexcept {
    open_.store(over);
    open_.notify_all();
    for (auto& worker : workers_) worker.join();
    workers_.clear();
}

bool Team::cancelled() noexcept {
    if (stop_->load(std::memory_order_relaxed)) return true;
    if (interrupted_ == nullptr || std::this_thread::get_id() != maker_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_check_) return false;
    if (interrupted_()) cancel();
    next_check_ = std::chrono::steady_clock::now() + between_checks;
    return stop_->load(std::memory_order_relaxed);
}

void Team::start() {
    while (static_cast<std::int64_t>(workers_.size()) + 1 < threads_) {
        try {
            const auto thread = static_cast<std::int64_t>(workers_.size()) + 1;
            workers_.emplace_back([this, thread] { serve(thread); });
        } catch (const std::system_error&) {
            threads_ = static_cast<std::int64_t>(workers_.size()) + 1;  // The system allows no more.
        }
    }
}

std::int64_t Team::worthwhile_pieces(std::int64_t count, std::int64_t cost, std::int64_t grain) {
    const std::int64_t numbers = count * std::max<std::int64_t>(cost, 1);
    if (threads_ > 1 && workers_.empty() && numbers >= numbers_for_a_start) start();
    if (numbers < numbers_for_a_job) return 1;
    const std::int64_t checks = std::min(numbers / numbers_for_a_check, count / grain);
    if (workers_.empty()) return std::max<std::int64_t>(checks, 1);
    const std::int64_t wanted = std::max(std::clamp(count / grain, threads_, pieces_each * threads_), checks);
    return std::min({wanted, count, numbers / numbers_for_a_piece});
}

std::int64_t Team::Job::begin(std::int64_t piece) const {
    const std::int64_t item = count / pieces * piece + count % pieces * piece / pieces;
    const bool whole = piece < pieces && count / pieces >= 4 * rows_together;
    return whole ? item - item % rows_together : item;
}

void Team::run_pieces(const Job& job) {
    if (!cancelled()) {
        job_ = job;
        next_.store(0, std::memory_order_relaxed);
        if (workers_.empty() || job.pieces <= 1) {
            take_pieces(0);
        } else {
            jobs_ = jobs_ % 1000000 + 1;
            open_.store(jobs_);
            open_.notify_all();
            take_pieces(0);
            open_.store(closed);
            // A worker that wakes up from now on sees that the job is closed; wait for those inside.
            for (int spins = 0; inside_.load() != 0; ++spins) {
                wait_a_moment(spins);
                if (spins % 64 == 63) cancelled();
            }
        }
    }
    if (stop_->load(std::memory_order_relaxed)) {
        dismiss();
        throw Cancelled{};
    }
}

void Team::take_pieces(std::int64_t thread) noexcept {
    const Job job = job_;
    do {
        const std::int64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
        if (piece >= job.pieces) return;
        job.work(job.context, job.begin(piece), job.begin(piece + 1), thread);
    } while (!cancelled());
}

void Team::serve(std::int64_t thread) noexcept {
    int done = closed;
    auto since = std::chrono::steady_clock::now();
    for (int spins = 0;; ++spins) {
        const int job = open_.load();
        if (job == over) return;
        if (job != closed && job != done) {
            inside_.fetch_add(1);
            if (open_.load() == job) take_pieces(thread);
            inside_.fetch_sub(1);
            done = job;
            since = std::chrono::steady_clock::now();
        } else if (spins % 64 == 0 && std::chrono::steady_clock::now() - since > awake_after_job) {
            open_.wait(job);
            since = std::chrono::steady_clock::now();
        } else {
            wait_a_moment(spins);
        }
    }
}

}  // namespace sureshot
