// One reward f(i, j): what a data value and a query value add to the score of an arm. For kernels: one
// copy for each instruction set.
#pragma once

#include "lanes.hpp"

namespace sureshot::SURESHOT_ISA {

// Of doubles, or of lanes of them.
struct InnerProduct {
    template <class Number>
    static Number reward(Number value, Number query) { return value * query; }
};

// Distances are negated, so that the largest score is the nearest row.
struct SquaredEuclidean {
    template <class Number>
    static Number reward(Number value, Number query) {
        const Number difference = value - query;
        return -(difference * difference);
    }
};

struct L1 {
    template <class Number>
    static Number reward(Number value, Number query) { return -magnitude_of(value - query); }
};

// No reward, but what norm bets ask for as well.
struct Square {
    template <class Number>
    static Number reward(Number value, Number) { return value * value; }
};

// Calls f.template operator()<Reward>() for the metric at hand.
template <class F>
void with_reward(Metric metric, F&& f) {
    switch (metric) {
        case Metric::inner_product: return f.template operator()<InnerProduct>();
        case Metric::squared_euclidean: return f.template operator()<SquaredEuclidean>();
        case Metric::l1: return f.template operator()<L1>();
    }
}

// Calls f.template operator()<Reward, with_squares>(rewards, squares) for the metric at hand and, unless squares is null,
// for squares as well: at a time for inner products, which norm bets are on, and else one after the other.
template <class F>
void with_rewards(Metric metric, double* rewards, double* squares, F&& f) {
    if (squares != nullptr && metric == Metric::inner_product) {
        return f.template operator()<InnerProduct, true>(rewards, squares);
    }
    if (squares != nullptr) f.template operator()<Square, false>(squares, nullptr);
    with_reward(metric, [&]<class Reward>() { f.template operator()<Reward, false>(rewards, nullptr); });
}

}  // namespace sureshot::SURESHOT_ISA
