#include "drawn_steps.hpp"

#include <algorithm>
#include <limits>

namespace sureshot {

void DrawnSteps::append(const Order& order, const double* centre, std::int64_t start, std::int64_t stop,
                        double guess, std::int64_t first_stake) {
    const bool guessed = guess > -std::numeric_limits<double>::infinity();
    if (guessed) largest_guess_ = std::max(largest_guess_, std::fabs(guess));
    for (std::int64_t s = start; s < stop; ++s) {
        const auto block = order.blocks()[static_cast<std::size_t>(s)];
        const bool bets = guessed && first_stake >= 0 && s >= first_stake;
        steps_.push_back({centre[block], order.weight(block), order.left()[static_cast<std::size_t>(s)],
                          rest_.back(), guessed ? guess : 0.0, bets ? 1.0 : 0.0});
        const double sum = drawn_centres_ + centre[block];  // Knuth's exact addition
        const double part = sum - drawn_centres_;
        drawn_centres_low_ += (drawn_centres_ - (sum - part)) + (centre[block] - part);
        drawn_centres_ = sum;
        rest_.push_back((rest_.front() - drawn_centres_) - drawn_centres_low_);
    }
    left_.assign(order.left().begin(), order.left().begin() + stop + 1);
}

}  // namespace sureshot
