#include "team.hpp"

#include "waiting.hpp"

namespace sureshot {
namespace {

// Below this many numbers for each thread a job is not worth sharing, not worth starting a worker for, or not
// worth another piece: the job ends when its slowest piece does. Measured with workers that are awake: two
// threads take as long as one for 2^15 numbers, and gain from there on. A worker is started once, and stays.
constexpr std::int64_t numbers_for_a_thread = std::int64_t{1} << 15;
constexpr std::int64_t numbers_for_a_start = std::int64_t{1} << 17;
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

std::int64_t worthwhile_pieces(std::int64_t count, std::int64_t numbers, std::int64_t grain, std::int64_t threads) {
    const std::int64_t most = count / grain;
    const std::int64_t checks = std::min(numbers / numbers_for_a_check, most);
    if (threads == 1) return std::max<std::int64_t>(checks, 1);
    // As many for each thread: of three pieces two threads do two, one after the other, while one of them waits.
    const std::int64_t even = std::clamp(most / threads, std::int64_t{1}, pieces_each) * threads;
    const std::int64_t wanted = std::max(even, checks);
    return std::min({wanted, count, numbers / numbers_for_a_piece});
}

}  // namespace

Team::Team(int threads, Ask* interrupted)
    : threads_(std::max(threads, 1)),
      stop_(std::make_shared<std::atomic<bool>>(false)),
      interrupted_(interrupted),
      next_check_(std::chrono::steady_clock::now() + between_checks) {}

Team::Team(int threads, const Team& other)
    : threads_(std::max(threads, 1)), stop_(other.stop_), interrupted_(nullptr) {}

Team::~Team() { return_workers(workers_); }

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
    borrow(threads_ - 1, false);
    for (const auto& worker : workers_) worker->wake();
}

// Returns how many of the wanted workers there are.
std::int64_t Team::borrow(std::int64_t wanted, bool only_idle) {
    if (wanted <= 0) return 0;
    borrow_workers(workers_, static_cast<std::size_t>(wanted), only_idle);
    const auto borrowed = static_cast<std::int64_t>(workers_.size());
    if (!only_idle && borrowed < wanted) threads_ = borrowed + 1;  // The system allows no more.
    return std::min(borrowed, wanted);
}

void Team::run_job(Job job, std::int64_t cost, std::int64_t grain) {
    if (!cancelled()) {
        const std::int64_t numbers = job.count * std::max<std::int64_t>(cost, 1);
        const std::int64_t wanted = std::min(numbers / numbers_for_a_thread, threads_) - 1;
        const std::int64_t workers = borrow(wanted, numbers < numbers_for_a_start);
        job.pieces = worthwhile_pieces(job.count, numbers, grain, workers + 1);
        job_ = job;
        next_.store(0, std::memory_order_relaxed);
        take_pieces_together(std::min(workers, job.pieces - 1), numbers);
    }
    if (stop_->load(std::memory_order_relaxed)) {
        return_workers(workers_);
        throw Cancelled{};
    }
}

std::int64_t Team::Job::begin(std::int64_t piece) const {
    const std::int64_t item = count / pieces * piece + count % pieces * piece / pieces;
    const bool whole = piece < pieces && count / pieces >= 4 * rows_together;
    return whole ? item - item % rows_together : item;
}

void Team::take_pieces_together(std::int64_t workers, std::int64_t numbers) {
    for (std::int64_t at = 0; at < workers; ++at) {
        const auto help = [](void* team, std::int64_t thread) noexcept {
            static_cast<Team*>(team)->take_pieces(thread);
        };
        workers_[static_cast<std::size_t>(at)]->ask({help, this, at + 1}, numbers);
    }
    take_pieces(0);
    for (std::int64_t at = 0; at < workers; ++at) {
        for (int spins = 0; !workers_[static_cast<std::size_t>(at)]->withdraw(); ++spins) {
            wait_a_moment(spins);
            if (spins % 64 == 63) cancelled();
        }
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

}  // namespace sureshot
