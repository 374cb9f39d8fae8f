// A team of threads that lives as long as one call of the library. No pool and no OpenMP: both break
// after fork. To wake a thread can take milliseconds on a virtual machine, so a job does not wait for it: a
// thread that is awake takes the next piece, and threads stay awake for a while after each job.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

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

    // Starts the threads now, so that they are awake when the first job comes.
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
        run_pieces({[](const void* context, std::int64_t begin, std::int64_t end,
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
                    &work, count, worthwhile_pieces(count, cost, grain)});
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
        std::int64_t pieces;

        std::int64_t begin(std::int64_t piece) const;
    };

    std::int64_t worthwhile_pieces(std::int64_t count, std::int64_t cost, std::int64_t grain);
    void run_pieces(const Job& job);
    void take_pieces(std::int64_t thread) noexcept;
    void serve(std::int64_t thread) noexcept;
    void dismiss() noexcept;

    static constexpr int closed = 0;  // no job is open
    static constexpr int over = -1;   // nor will there be another one

    std::int64_t threads_;
    std::vector<std::thread> workers_;
    std::shared_ptr<std::atomic<bool>> stop_;
    Ask* interrupted_;
    std::thread::id maker_ = std::this_thread::get_id();
    std::chrono::steady_clock::time_point next_check_;
    Job job_{};
    alignas(64) std::atomic<int> open_{closed};  // the number of the open job; workers sleep on this
    alignas(64) std::atomic<int> inside_{0};     // workers that may be looking at the job
    alignas(64) std::atomic<std::int64_t> next_{0};
    int jobs_ = 0;
};

}  // namespace sureshot
