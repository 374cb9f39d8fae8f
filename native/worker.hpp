// A thread that does one task after the other, for one team at a time, and sleeps when none has come for a while.
// It never touches Python.
//
// One word says what the worker is up to, and every task is handed over and back by changing it, so that of
// two threads which want to change it only one can. A worker that is late finds the task withdrawn, and whoever
// withdraws it waits only for a worker that has begun.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace sureshot {

class Worker {
public:
    struct Task {
        void (*work)(void* context, std::int64_t thread) noexcept;
        void* context;
        std::int64_t thread;
    };

    // Starts the thread. `process` says in which process: a fork leaves the threads behind. Throws
    // std::system_error if the system allows no more threads.
    static std::shared_ptr<Worker> start(int process);

    explicit Worker(int process) : process_(process) {}
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    int process() const { return process_; }

    // Hands over a task that reads so many numbers in all. It must be withdrawn before the next one. A worker
    // that sleeps is woken only if this task, with others that it missed shortly before, is worth it.
    void ask(const Task& task, std::int64_t numbers) noexcept;

    // Takes the task back unless the worker has begun with it. Returns whether the worker does not look at
    // the task any more, and will not: call it until it does.
    bool withdraw() noexcept;

    // Wakes the worker without a task, because one will come soon.
    void wake() noexcept;

    // Ends the thread. The worker must have no task, nor get another one.
    void dismiss() noexcept;

private:
    // Asked, asleep and dismissed follow on idle (or asleep), busy on asked, and idle on busy. Asked is taken
    // back by whoever set it; busy, asleep and the end of busy are set by the thread of the worker alone.
    enum class State : int { idle, asleep, asked, busy, dismissed };

    bool worth_waking(std::int64_t numbers) noexcept;
    void serve() noexcept;

    const int process_;
    // Of whoever asks:
    std::int64_t numbers_missed_ = 0;
    std::chrono::steady_clock::time_point last_missed_{};
    // Read by the worker while it is busy, written by others while it is idle or asleep:
    Task task_{};
    alignas(64) std::atomic<State> state_{State::idle};  // the worker sleeps on this
};

}  // namespace sureshot
