// A team of threads that lives as long as one call of the library. No pool and no OpenMP: both break
// after fork. To wake a thread can take milliseconds on a virtual machine, so nobody waits for one: whoever
// is awake takes the next piece of a job, and threads stay awake for a while after each job.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace sureshot {

class Team {
public:
    explicit Team(int threads);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // Starts the threads now, so that they are awake when the first job comes.
    void start();

    // Runs work(begin, end) over [0, count), in contiguous pieces of at least `grain` items if that leaves
    // one for each thread, and returns when all are done. `cost` is how many numbers one item reads. Every item is handled whole by one
    // thread, so results never depend on the number of threads. One job at a time. There is no way to
    // hand an exception over: work must be noexcept.
    template <class Work>
    void run(std::int64_t count, std::int64_t cost, const Work& work, std::int64_t grain = 1) {
        static_assert(std::is_nothrow_invocable_v<const Work&, std::int64_t, std::int64_t>);
        const std::int64_t pieces = worthwhile_pieces(count, cost, grain);
        if (pieces <= 1) return work(std::int64_t{0}, count);
        run_pieces({[](const void* context, std::int64_t begin, std::int64_t end) noexcept {
                        (*static_cast<const Work*>(context))(begin, end);
                    },
                    &work, count, pieces});
    }

private:
    struct Job {
        void (*work)(const void* context, std::int64_t begin, std::int64_t end) noexcept;
        const void* context;
        std::int64_t count;
        std::int64_t pieces;
    };

    std::int64_t worthwhile_pieces(std::int64_t count, std::int64_t cost, std::int64_t grain);
    void run_pieces(const Job& job) noexcept;
    void take_pieces() noexcept;
    void serve() noexcept;

    static constexpr int closed = 0;  // no job is open
    static constexpr int over = -1;   // nor will there be another one

    std::int64_t threads_;
    std::vector<std::thread> workers_;
    Job job_{};
    alignas(64) std::atomic<int> open_{closed};  // the number of the open job; workers sleep on this
    alignas(64) std::atomic<int> inside_{0};     // workers that may be looking at the job
    alignas(64) std::atomic<std::int64_t> next_{0};
    int jobs_ = 0;
};

}  // namespace sureshot
