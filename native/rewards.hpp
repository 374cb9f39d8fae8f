// One reward f(i, j): what a data value and a query value add to the score of an arm. For kernels: one
// copy for each instruction set.
#pragma once

#include <cmath>

#include "elements.hpp"

namespace sureshot::SURESHOT_ISA {

struct InnerProduct {
    static double reward(double value, double query) { return value * query; }
};

// Distances are negated, so that the largest score is the nearest row.
struct SquaredEuclidean {
    static double reward(double value, double query) {
        const double difference = value - query;
        return -(difference * difference);
    }
};

struct L1 {
    static double reward(double value, double query) { return -std::fabs(value - query); }
};

// No reward, but what norm bets ask for as well.
struct Square {
    static double reward(double value, double) { return value * value; }
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

}  // namespace sureshot::SURESHOT_ISA
