// The steps of a search: what is fixed about each of them before any arm reads it.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "bets.hpp"
#include "order.hpp"

namespace sureshot {

class DrawnSteps {
 public:
    // `weights` and `centres` of all blocks that can be drawn, added up.
    DrawnSteps(double weights, double centres) : left_{weights}, rest_{centres} {}

    // Appends the steps [start, stop) of the order. `guess` is of the final threshold, minus infinity if there
    // is none; bets on these steps use nothing that is learnt later. Stakes are allowed from the step
    // `first_stake` on, if there is a guess; never, if it is negative.
    void append(const Order& order, const double* centre, std::int64_t start, std::int64_t stop, double guess,
                std::int64_t first_stake);

    std::int64_t count() const { return static_cast<std::int64_t>(steps_.size()); }
    const Step* data() const { return steps_.data(); }
    const Step& operator[](std::int64_t step) const { return steps_[static_cast<std::size_t>(step)]; }

    // Of the blocks not yet drawn when `front` steps are: their weight, and the sum of their centres.
    double left(std::int64_t front) const { return left_[static_cast<std::size_t>(front)]; }
    double rest(std::int64_t front) const { return rest_[static_cast<std::size_t>(front)]; }

    // In absolute value.
    double largest_guess() const { return largest_guess_; }

 private:
    std::vector<Step> steps_;
    std::vector<double> left_, rest_;
    double drawn_centres_ = 0.0, drawn_centres_low_ = 0.0;  // their sum, in twice the precision of double
    double largest_guess_ = 0.0;
};

}  // namespace sureshot
