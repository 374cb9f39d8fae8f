#include "worker.hpp"

#include <thread>

#include "waiting.hpp"

#if !defined(_WIN32)
#include <csignal>
#endif

namespace sureshot {
namespace {

// A worker stays awake for this long after a task: the next one comes after a little Python, of the same call
// or, in a loop of calls, of the next. BLAS libraries take ten times as long.
constexpr std::chrono::microseconds awake_after_task{3000};

// Waking a worker takes whoever asks some 35 microseconds on a virtual machine, and the worker is late: for less
// than this many numbers they are lost if nothing follows, and in a loop of small calls, or in a race, something
// does. So a worker is woken when as much has been missed as would have paid for it.
constexpr std::int64_t numbers_for_a_wake = std::int64_t{1} << 21;

// Signals are for the threads of the program: one that they all block, to wait for it, must not end the process
// because a worker does not. Faults still reach their handlers.
class SignalsBlocked {
#if !defined(_WIN32)
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGBUS, SIGFPE, SIGILL, SIGSEGV}) sigdelset(&all, fault);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
#endif
};

}  // namespace

std::shared_ptr<Worker> Worker::start(int process) {
    // The thread shares the worker with those who ask it, and nothing else ends with one of them.
    auto worker = std::make_shared<Worker>(process);
    const SignalsBlocked blocked;  // A thread inherits what is blocked.
    std::thread([worker] { worker->serve(); }).detach();
    return worker;
}

void Worker::ask(const Task& task, std::int64_t numbers) noexcept {
    task_ = task;
    State state = state_.load();
    if (state == State::asleep && !worth_waking(numbers)) return;
    while (!state_.compare_exchange_weak(state, State::asked)) {
    }
    if (state == State::asleep) state_.notify_one();
}

bool Worker::worth_waking(std::int64_t numbers) noexcept {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_missed_ > awake_after_task) numbers_missed_ = 0;
    last_missed_ = now;
    numbers_missed_ += numbers;
    return numbers_missed_ >= numbers_for_a_wake;
}

bool Worker::withdraw() noexcept {
    State state = state_.load();
    if (state == State::asked && state_.compare_exchange_strong(state, State::idle)) return true;
    return state != State::busy;
}

void Worker::wake() noexcept {
    State state = State::asleep;
    if (state_.compare_exchange_strong(state, State::idle)) state_.notify_one();
}

void Worker::dismiss() noexcept {
    state_.store(State::dismissed);
    state_.notify_one();
}

void Worker::serve() noexcept {
    auto since = std::chrono::steady_clock::now();
    for (int spins = 0;; spins = (spins + 1) % 64) {
        State state = state_.load();
        if (state == State::dismissed) return;
        if (state == State::asked) {
            if (!state_.compare_exchange_strong(state, State::busy)) continue;
            task_.work(task_.context, task_.thread);
            state_.store(State::idle);
            since = std::chrono::steady_clock::now();
        } else if (spins == 0 && std::chrono::steady_clock::now() - since > awake_after_task) {
            if (!state_.compare_exchange_strong(state, State::asleep)) continue;
            state_.wait(State::asleep);
            since = std::chrono::steady_clock::now();
        } else {
            wait_a_moment(spins);
        }
    }
}

}  // namespace sureshot
