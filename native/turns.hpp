// Threads that search different queries take turns with Python. Its own lock is slow to hand over: a thread that
// waits for it sleeps, and to be woken takes longer than most of what a search does between two native calls, so
// that several searches side by side would take longer than one after the other. A thread that waits for its turn is
// awake, and finds the lock free.
#pragma once

#include <atomic>

namespace sureshot {

class Turns {
public:
    Turns() = default;
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;

    // The calling thread takes part from now on, and begins with a turn; and takes part no more.
    void begin() noexcept;
    void end() noexcept;

    // Those that the calling thread takes part in, or null.
    static Turns* own() noexcept;

    // Waits for the turn, but not for long: a thread without one waits for Python's lock as any other does. So
    // nothing ever depends on the turn but time. Never with the lock, which the thread that has the turn waits for.
    void take() noexcept;
    // Ends the turn of the calling thread, if it has one.
    void give() noexcept;

private:
    std::atomic<bool> taken_{false};
};

// Lets another thread have the turn while the calling thread does without Python.
class TurnGiven {
public:
    TurnGiven() noexcept : turns_(Turns::own()) {
        if (turns_ != nullptr) turns_->give();
    }
    ~TurnGiven() {
        if (turns_ != nullptr) turns_->take();
    }
    TurnGiven(const TurnGiven&) = delete;
    TurnGiven& operator=(const TurnGiven&) = delete;

private:
    Turns* turns_;
};

}  // namespace sureshot
