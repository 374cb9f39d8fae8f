#include "order.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace sureshot {
namespace {

// All tickets together are about 2 to this power: any number of them is a double without rounding.
constexpr int ticket_bits = 52;

// No ticket weighs less than 2 to this power: its inverse must be finite.
constexpr int lightest_ticket = -1022;

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
    : random_(seed),
      tickets_(static_cast<std::size_t>(count), &arena_),
      state_(tickets_.size(), waiting, &arena_),
      ends_(static_cast<std::size_t>((count + stretch - 1) / stretch), &arena_),
      guide_(&arena_) {
    guide_.reserve(2 * ends_.size() + 1);
    give_tickets(weight);
    start_over();
    length_ = waiting_count_;
    left_.push_back(in_weights(waiting_tickets_));
}

void Order::give_tickets(const double* weight) {
    constexpr std::size_t lanes = 8;  // additions that do not wait for each other
    double sums[lanes] = {};
    const std::size_t whole = tickets_.size() / lanes * lanes;
    for (std::size_t block = 0; block < whole; block += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += weight[block + lane];
    }
    for (std::size_t block = whole; block < tickets_.size(); ++block) sums[block - whole] += weight[block];
    double total = 0.0;
    for (const double sum : sums) total += sum;
    if (!std::isfinite(total)) throw std::invalid_argument("weights must have a finite sum");
    if (total == 0.0) return;
    const int exponent = std::max(std::ilogb(total) + 1 - ticket_bits, lightest_ticket);
    ticket_ = std::ldexp(1.0, exponent);
    // In two factors, since their product may be beyond the range of double.
    const double first = std::ldexp(1.0, -exponent / 2), second = std::ldexp(1.0, -exponent + exponent / 2);
    for (std::size_t block = 0; block < tickets_.size(); ++block) {
        const double exact = weight[block] * first * second;
        const auto down = static_cast<std::int64_t>(exact);
        // A positive weight that underflows still gets one ticket.
        const bool more = static_cast<double>(down) < exact || (down == 0 && weight[block] > 0.0);
        tickets_[block] = down + (more ? 1 : 0);
    }
}

std::int64_t Order::tickets(std::int64_t block) const {
    const auto at = static_cast<std::size_t>(block);
    return state_[at] == gone ? 0 : tickets_[at];
}

void Order::start_over() {
    waiting_count_ = waiting_tickets_ = drawn_count_ = drawn_tickets_ = 0;
    const auto count = static_cast<std::int64_t>(tickets_.size());
    for (std::int64_t first = 0; first < count; first += stretch) {
        const std::int64_t last = std::min(first + stretch, count);
        for (std::int64_t block = first; block < last; ++block) {
            State& state = state_[static_cast<std::size_t>(block)];
            if (state == drawn) state = gone;
            waiting_tickets_ += tickets(block);
            waiting_count_ += tickets(block) > 0;
        }
        ends_[static_cast<std::size_t>(first / stretch)] = waiting_tickets_;
    }
    make_guide();
}

void Order::make_guide() {
    guide_.clear();
    const auto total = static_cast<std::uint64_t>(waiting_tickets_);
    const auto digits = [](std::uint64_t number) { return static_cast<int>(std::bit_width(number)); };
    guide_shift_ = std::max(digits(total) - digits(ends_.size()), 0);
    std::uint32_t found = 0;
    for (std::uint64_t first = 0; first < total; first += std::uint64_t{1} << guide_shift_) {
        while (static_cast<std::uint64_t>(ends_[found]) <= first) ++found;
        guide_.push_back(found);
    }
}

std::int64_t Order::pick() {
    for (;;) {
        const auto ticket = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(ends_.back())));
        std::size_t found = guide_[static_cast<std::size_t>(ticket >> guide_shift_)];
        while (ends_[found] <= ticket) ++found;
        std::int64_t end = found == 0 ? 0 : ends_[found - 1];
        std::int64_t block = static_cast<std::int64_t>(found) * stretch;
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
        drawn_tickets_ += tickets_[static_cast<std::size_t>(block)];
        ++drawn_count_;
        left_.push_back(in_weights(waiting_tickets_ - drawn_tickets_));
        // Picks of drawn blocks are repeated, which is only cheap while these are few.
        if (2 * drawn_count_ > waiting_count_ || 2 * drawn_tickets_ > waiting_tickets_) start_over();
    }
}

std::vector<std::int64_t> Order::undrawn(std::int64_t front) const {
    std::vector<bool> skip(tickets_.size(), false);
    for (std::int64_t step = 0; step < front; ++step) {
        skip[static_cast<std::size_t>(blocks_[static_cast<std::size_t>(step)])] = true;
    }
    std::vector<std::int64_t> found;
    found.reserve(static_cast<std::size_t>(length_ - front));
    for (std::size_t block = 0; block < tickets_.size(); ++block) {
        if (tickets_[block] > 0 && !skip[block]) found.push_back(static_cast<std::int64_t>(block));
    }
    return found;
}

}  // namespace sureshot
