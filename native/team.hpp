// A team of threads that lives as long as one call of the library. No pool and no OpenMP: both break
// after fork. A thread starts with the first job that is worth it (about 20 microseconds), and stays
// awake for a while after each job, so that the next one costs a few microseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
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

    // Runs work(begin, end) over [0, count), in contiguous parts of about the same size, and returns
    // when all are done. `cost` is how many numbers one item reads. Every item is handled whole by
    // one thread, so results never depend on the number of threads. One job at a time. There is no
    // way to hand an exception over: work must be noexcept.
    template <class Work>
    void run(std::int64_t count, std::int64_t cost, const Work& work) {
        static_assert(std::is_nothrow_invocable_v<const Work&, std::int64_t, std::int64_t>);
        const std::int64_t parts = ready_parts(count, cost);
        if (parts == 1) return work(std::int64_t{0}, count);
        run_parts({[](const void* context, std::int64_t begin, std::int64_t end) noexcept {
                       (*static_cast<const Work*>(context))(begin, end);
                   },
                   &work, count, parts});
    }

private:
    // Without work it sends the workers home.
    struct Job {
        void (*work)(const void* context, std::int64_t begin, std::int64_t end) noexcept;
        const void* context;
        std::int64_t count;
        std::int64_t parts;

        void do_part(std::int64_t part) const noexcept {
            work(context, count * part / parts, count * (part + 1) / parts);
        }
    };

    // On a cache line of its own: the others' jobs do not disturb its spinning.
    struct alignas(64) Worker {
        std::atomic<int> jobs{0};  // how many it was given; it sleeps on this
        std::thread thread;
    };

    std::int64_t ready_parts(std::int64_t count, std::int64_t cost);
    void start(std::int64_t wanted);
    void hand_out(const Job& job, std::int64_t workers) noexcept;
    void run_parts(const Job& job) noexcept;
    void serve(const Worker& worker, std::int64_t part) noexcept;
    std::int64_t members() const { return static_cast<std::int64_t>(workers_.size()) + 1; }

    std::int64_t threads_;
    std::vector<std::unique_ptr<Worker>> workers_;  // worker w does part w + 1; the caller does part 0
    Job job_{};
    alignas(64) std::atomic<int> unfinished_{0};
};

}  // namespace sureshot
