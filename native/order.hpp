// The random order in which blocks are drawn: one after the other, without replacement, each with
// probability proportional to its weight. Drawn lazily, since a search seldom needs more than a few
// per cent of it.
#pragma once

#include <cstdint>
#include <vector>

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
    // Blocks of weight 0 are constants and are never drawn. The weights stay where they are.
    Order(const double* weight, std::int64_t count, std::uint64_t seed);

    // Draws on until `front` blocks are drawn in all, or none is left.
    void draw(std::int64_t front);

    std::int64_t length() const { return length_; }
    const std::vector<std::int64_t>& blocks() const { return blocks_; }
    // The weight not yet drawn before each step, and after the last one.
    const std::vector<double>& left() const { return left_; }
    // The blocks that are not among the first `front` drawn, in address order.
    std::vector<std::int64_t> undrawn(std::int64_t front) const;

 private:
    enum State : std::uint8_t { waiting, drawn, gone };

    void start_over();
    std::uint64_t tickets(std::int64_t block) const;
    std::int64_t pick();

    const double* weight_;
    std::int64_t count_, length_ = 0;
    Random random_;
    std::vector<std::int64_t> blocks_;
    std::vector<double> left_;

    // Every block that was waiting at the last start has a number of tickets in proportion to its weight;
    // a block drawn since then keeps them, and is passed over when one is picked again. ends_[s] is the
    // number of tickets in all stretches of blocks up to the s-th.
    std::vector<State> state_;
    std::vector<std::uint64_t> ends_;
    double tickets_per_weight_ = 0.0;
    double waiting_weight_ = 0.0;  // at the last start
    double drawn_weight_ = 0.0;    // since then
    std::int64_t waiting_count_ = 0, drawn_count_ = 0;
};

}  // namespace sureshot
