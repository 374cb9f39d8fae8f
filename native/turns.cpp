#include "turns.hpp"

#include <chrono>

#include "waiting.hpp"

namespace sureshot {
namespace {

thread_local Turns* own_turns = nullptr;
thread_local bool has_turn = false;

// Longer than what a search does between two native calls, but for a few.
constexpr std::chrono::microseconds awake_for_a_turn{1000};

}  // namespace

Turns* Turns::own() noexcept { return own_turns; }

void Turns::begin() noexcept {
    own_turns = this;
    take();
}

void Turns::end() noexcept {
    give();
    own_turns = nullptr;
}

void Turns::take() noexcept {
    const auto try_to_take = [this] { return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true); };
    has_turn = try_to_take();
    if (has_turn) return;
    const auto until = std::chrono::steady_clock::now() + awake_for_a_turn;
    for (int spins = 0; !has_turn; spins = (spins + 1) % 64) {
        if (spins == 63 && std::chrono::steady_clock::now() > until) return;
        wait_a_moment(spins);
        has_turn = try_to_take();
    }
}

void Turns::give() noexcept {
    if (has_turn) taken_.store(false);
    has_turn = false;
}

}  // namespace sureshot
