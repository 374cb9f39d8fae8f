#include "order.hpp"

#include <algorithm>
#include <bit>

namespace sureshot {
namespace {

// All tickets together: their sums are exact, so a block's probability is off by at most 2^-61, however
// many blocks there are.
constexpr double all_tickets = 0x1p62;

// Blocks whose tickets are counted together, and looked through when one is picked.
constexpr std::int64_t stretch = 16;

}  // namespace

Random::Random(std::uint64_t seed) {
    for (auto& word : state_) {
        seed += 0x9e3779b97f4a7c15;
        std::uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        word = mixed ^ (mixed >> 31);
    }
}

std::uint64_t Random::next() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

std::uint64_t Random::below(std::uint64_t limit) {
    const int unused = std::countl_zero(limit);
    for (;;) {
        const std::uint64_t value = next() >> unused;
        if (value < limit) return value;
    }
}

Order::Order(const double* weight, std::int64_t count, std::uint64_t seed)
    : weight_(weight), count_(count), random_(seed), state_(static_cast<std::size_t>(count), waiting) {
    start_over();
    length_ = waiting_count_;
    left_.push_back(waiting_weight_);
}

std::uint64_t Order::tickets(std::int64_t block) const {
    if (state_[static_cast<std::size_t>(block)] == gone) return 0;
    // Through a signed integer, which processors convert to much faster.
    return static_cast<std::uint64_t>(
        static_cast<std::int64_t>(weight_[block] * tickets_per_weight_ + 0.5));
}

void Order::start_over() {
    constexpr std::int64_t lanes = 8;  // additions that do not wait for each other
    double sums[lanes] = {};
    std::int64_t counts[lanes] = {};
    for (std::int64_t block = 0; block < count_; ++block) {
        State& state = state_[static_cast<std::size_t>(block)];
        if (state == drawn) state = gone;
        const bool waits = state == waiting && weight_[block] > 0.0;
        sums[block % lanes] += waits ? weight_[block] : 0.0;
        counts[block % lanes] += waits;
    }
    waiting_weight_ = drawn_weight_ = 0.0;
    waiting_count_ = drawn_count_ = 0;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        waiting_weight_ += sums[lane];
        waiting_count_ += counts[lane];
    }
    tickets_per_weight_ = waiting_count_ == 0 ? 0.0 : all_tickets / waiting_weight_;
    ends_.clear();
    std::uint64_t end = 0;
    for (std::int64_t first = 0; first < count_; first += stretch) {
        const std::int64_t last = std::min(first + stretch, count_);
        for (std::int64_t block = first; block < last; ++block) end += tickets(block);
        ends_.push_back(end);
    }
}

std::int64_t Order::pick() {
    for (;;) {
        const std::uint64_t ticket = random_.below(ends_.back());
        const auto found = std::upper_bound(ends_.begin(), ends_.end(), ticket) - ends_.begin();
        std::uint64_t end = found == 0 ? 0 : ends_[static_cast<std::size_t>(found - 1)];
        std::int64_t block = found * stretch;
        while ((end += tickets(block)) <= ticket) ++block;
        if (state_[static_cast<std::size_t>(block)] == waiting) return block;
    }
}

void Order::draw(std::int64_t front) {
    front = std::min(front, length_);
    while (static_cast<std::int64_t>(blocks_.size()) < front) {
        const std::int64_t block = pick();
        state_[static_cast<std::size_t>(block)] = drawn;
        blocks_.push_back(block);
        drawn_weight_ += weight_[block];
        ++drawn_count_;
        // To pass over drawn blocks is only cheap while they are few, and the difference below is only
        // exact enough while it is not small.
        if (2 * drawn_count_ > waiting_count_ || 2.0 * drawn_weight_ > waiting_weight_) start_over();
        left_.push_back(waiting_weight_ - drawn_weight_);
    }
}

std::vector<std::int64_t> Order::undrawn(std::int64_t front) const {
    std::vector<bool> skip(static_cast<std::size_t>(count_), false);
    for (std::int64_t step = 0; step < front; ++step) {
        skip[static_cast<std::size_t>(blocks_[static_cast<std::size_t>(step)])] = true;
    }
    std::vector<std::int64_t> found;
    found.reserve(static_cast<std::size_t>(length_ - front));
    for (std::int64_t block = 0; block < count_; ++block) {
        if (weight_[block] > 0.0 && !skip[static_cast<std::size_t>(block)]) found.push_back(block);
    }
    return found;
}

}  // namespace sureshot
