// One reward f(i, j): what a data value and a query value add to the score of an arm. For kernels: one
// copy for each instruction set.
#pragma once

#include <cmath>

#include "elements.hpp"

namespace sureshot::SURESHOT_ISA {

struct InnerProduct {
    static constexpr bool squared = false;
    static double reward(double value, double query) { return value * query; }
};

// The same for kernels that also add up the squares of the data values while they have them at hand.
struct InnerProductAndSquare : InnerProduct {
    static constexpr bool squared = true;
};

// Distances are negated, so that the largest score is the nearest row.
struct SquaredEuclidean {
    static constexpr bool squared = false;
    static double reward(double value, double query) {
        const double difference = value - query;
        return -(difference * difference);
    }
};

struct L1 {
    static constexpr bool squared = false;
    static double reward(double value, double query) { return -std::fabs(value - query); }
};

// Calls f.template operator()<Value, Reward>() for the element type and metric at hand.
template <class F>
void with_types(Element element, Metric metric, F&& f) {
    with_values(element, [&]<class Value>() {
        switch (metric) {
            case Metric::inner_product: return f.template operator()<Value, InnerProduct>();
            case Metric::squared_euclidean: return f.template operator()<Value, SquaredEuclidean>();
            case Metric::l1: return f.template operator()<Value, L1>();
        }
    });
}

}  // namespace sureshot::SURESHOT_ISA
