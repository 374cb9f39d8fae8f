// The threads of one call of the library: the one that calls, and workers that the process lends until the call
// ends. To wake a thread can take milliseconds on a virtual machine, so a job does not wait for it: a thread
// that is awake takes the next piece.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>

#include "workers.hpp"

namespace sureshot {

// A job was cancelled before its end: what it wrote must not be used.
struct Cancelled : std::exception {
    const char* what() const noexcept override { return "the team was cancelled"; }
};

class Team {
public:
    // Whether to cancel the current job. Must be quick, and must not throw.
    using Ask = bool();

    // `interrupted`, unless null, is called now and then while a job runs, on the thread that made the team.
    explicit Team(int threads, Ask* interrupted = nullptr);
    // A team that is cancelled when the other one is.
    Team(int threads, const Team& other);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // Borrows and wakes all workers now, so that they are awake when the first job comes.
    void start();

    // Threads that may work at a time.
    std::int64_t threads() const { return threads_; }

    // Runs work(begin, end) over [0, count), in contiguous pieces of at least `grain` items if that leaves
    // one for each thread, and returns when all are done. `cost` is how many numbers one item reads. Every
    // item is handled whole by one thread, so results never depend on the number of threads.
    // work(begin, end, thread) gets the number of its thread as well, to use a workspace of its own. One job
    // at a time. An exception could not be passed to the caller: work must be noexcept. A piece that takes
    // longer than some ten milliseconds calls cancelled() from time to time. Throws Cancelled if the team was
    // cancelled.
    template <class Work>
    void run(std::int64_t count, std::int64_t cost, const Work& work, std::int64_t grain = 1) {
        constexpr bool numbered = std::is_invocable_v<const Work&, std::int64_t, std::int64_t, std::int64_t>;
        run_job({[](const void* context, std::int64_t begin, std::int64_t end,
                    [[maybe_unused]] std::int64_t thread) noexcept {
                     const Work& own = *static_cast<const Work*>(context);
                     if constexpr (numbered) {
                         static_assert(
                             std::is_nothrow_invocable_v<const Work&, std::int64_t, std::int64_t, std::int64_t>);
                         own(begin, end, thread);
                     } else {
                         static_assert(std::is_nothrow_invocable_v<const Work&, std::int64_t, std::int64_t>);
                         own(begin, end);
                     }
                 },
                 &work, count},
                cost, grain);
    }

    // No piece is begun any more, by this team and by those that are cancelled with it: every job throws
    // Cancelled.
    void cancel() noexcept { stop_->store(true, std::memory_order_relaxed); }

    // Whether to stop. Cheap enough to be called every few microseconds, by any of the threads.
    bool cancelled() noexcept;

private:
    struct Job {
        void (*work)(const void* context, std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept;
        const void* context;
        std::int64_t count;
        std::int64_t pieces = 1;

        std::int64_t begin(std::int64_t piece) const;
    };

    void run_job(Job job, std::int64_t cost, std::int64_t grain);
    std::int64_t borrow(std::int64_t wanted, bool only_idle);
    void take_pieces_together(std::int64_t workers, std::int64_t numbers);
    void take_pieces(std::int64_t thread) noexcept;

    std::int64_t threads_;
    Workers workers_;
    std::shared_ptr<std::atomic<bool>> stop_;
    Ask* interrupted_;
    std::thread::id maker_ = std::this_thread::get_id();
    std::chrono::steady_clock::time_point next_check_;
    Job job_{};  // of the threads while it is open, and else of the caller
    alignas(64) std::atomic<std::int64_t> next_{0};
};

}  // namespace sureshot
