// The random order in which blocks are drawn: one after the other, without replacement, each with
// probability proportional to its weight. Drawn lazily, since a search seldom needs more than a few
// per cent of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arena.hpp"

namespace sureshot {

// xoshiro256++, started by splitmix64.
class Random {
 public:
    explicit Random(std::uint64_t seed);
    std::uint64_t below(std::uint64_t limit);

 private:
    std::uint64_t next();
    std::uint64_t state_[4];
};

class Order {
 public:
    // Blocks of weight 0 are constants and are never drawn. The other weights are rounded up to whole
    // numbers of tickets, which are what is drawn: every probability, and every sum of weights, is exact.
    Order(const double* weight, std::int64_t count, std::uint64_t seed);

    // Draws until `front` blocks are drawn in all, or none is left.
    void draw(std::int64_t front);

    std::int64_t length() const { return length_; }
    const std::vector<std::int64_t>& blocks() const { return blocks_; }
    // The weight of a block, rounded up.
    double weight(std::int64_t block) const { return in_weights(tickets_[static_cast<std::size_t>(block)]); }
    // The weight not yet drawn before each step, and after the last one.
    const std::vector<double>& left() const { return left_; }
    // Whether a block is among the drawn ones [start, stop).
    bool has_drawn(std::int64_t block, std::int64_t start, std::int64_t stop) const {
        return std::find(blocks_.begin() + start, blocks_.begin() + stop, block) != blocks_.begin() + stop;
    }
    // The blocks that are not among the first `front` drawn, in address order.
    std::vector<std::int64_t> undrawn(std::int64_t front) const;

 private:
    enum State : std::uint8_t { waiting, drawn, gone };

    void give_tickets(const double* weight);
    void start_over();
    void make_guide();
    std::int64_t tickets(std::int64_t block) const;
    std::int64_t pick();
    double in_weights(std::int64_t tickets) const { return static_cast<double>(tickets) * ticket_; }

    std::int64_t length_ = 0;
    Random random_;
    std::vector<std::int64_t> blocks_;
    std::vector<double> left_;

    // A block that was drawn since the last start keeps its tickets; if one of them is picked again, another
    // ticket is picked instead. ends_[s] is the number of tickets in all stretches of blocks up to the s-th.
    Arena arena_;  // of what follows
    std::pmr::vector<std::int64_t> tickets_;  // of each block
    double ticket_ = 1.0;                // its weight, a power of two
    std::pmr::vector<State> state_;
    std::pmr::vector<std::int64_t> ends_;
    // The stretch in which the first of every 2^guide_shift_ tickets is: from there it is one step on the average to the
    // stretch of a ticket, where a search would take a dozen.
    std::pmr::vector<std::uint32_t> guide_;
    int guide_shift_ = 0;
    std::int64_t waiting_count_ = 0, waiting_tickets_ = 0;  // at the last start
    std::int64_t drawn_count_ = 0, drawn_tickets_ = 0;      // since then
};

}  // namespace sureshot
