#include "workers.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace sureshot {
namespace {

class IdleWorkers {
public:
    IdleWorkers() { idle_.reserve(most_); }

    void lend(Workers& workers, std::size_t wanted) {
        const std::lock_guard lock(mutex_);
        while (workers.size() < wanted && !idle_.empty()) {
            workers.push_back(std::move(idle_.back()));
            idle_.pop_back();
        }
    }

    // Leaves those that it does not keep. The first is the first to be lent again: it has had most to do.
    void take_back(Workers& workers) noexcept {
        const std::lock_guard lock(mutex_);
        const auto kept = static_cast<std::ptrdiff_t>(std::min(workers.size(), most_ - idle_.size()));
        for (auto at = kept; at > 0; --at) idle_.push_back(std::move(workers[static_cast<std::size_t>(at) - 1]));
        workers.erase(workers.begin(), workers.begin() + kept);
    }

    // Around a fork: no other thread may be in the middle of a change.
    void before_fork() { mutex_.lock(); }
    void after_fork() { mutex_.unlock(); }
    void after_fork_in_child() {
        std::construct_at(&mutex_);
        idle_.clear();
    }

private:
    const std::size_t most_ = std::max(std::thread::hardware_concurrency(), 1U);
    std::mutex mutex_;
    Workers idle_;
};

// Made when the library is loaded, before there are threads, and never destroyed: workers and other threads may
// outlive the end of the program's main function.
IdleWorkers& idle_workers = *new IdleWorkers;

// How many forks lead to this process.
std::atomic<int> process{0};

#if !defined(_WIN32)
[[maybe_unused]] const int registered = pthread_atfork([] { idle_workers.before_fork(); },
                                                       [] { idle_workers.after_fork(); },
                                                       [] {
                                                           idle_workers.after_fork_in_child();
                                                           ++process;
                                                       });
#endif

}  // namespace

void borrow_workers(Workers& workers, std::size_t wanted, bool only_idle) {
    if (workers.size() >= wanted) return;
    workers.reserve(wanted);
    idle_workers.lend(workers, wanted);
    if (only_idle) return;
    try {
        while (workers.size() < wanted) workers.push_back(Worker::start(process));
    } catch (const std::system_error&) {
        return;  // The system allows no more.
    }
}

void return_workers(Workers& workers) noexcept {
    std::erase_if(workers, [](const auto& worker) { return worker->process() != process; });
    idle_workers.take_back(workers);
    for (const auto& worker : workers) worker->dismiss();
    workers.clear();
}

}  // namespace sureshot
