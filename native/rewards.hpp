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

// Calls f.template operator()<Value, Reward>() for the element type and metric at hand.
template <class F>
void with_types(Element element, Metric metric, F&& f) {
    auto with_value = [&]<class Value>() {
        switch (metric) {
            case Metric::inner_product: return f.template operator()<Value, InnerProduct>();
            case Metric::squared_euclidean: return f.template operator()<Value, SquaredEuclidean>();
            case Metric::l1: return f.template operator()<Value, L1>();
        }
    };
    switch (element) {
        case Element::float16: return with_value.template operator()<Float16>();
        case Element::bfloat16: return with_value.template operator()<BFloat16>();
        case Element::float32: return with_value.template operator()<float>();
        case Element::float64: return with_value.template operator()<double>();
        case Element::int8: return with_value.template operator()<std::int8_t>();
        case Element::uint8: return with_value.template operator()<std::uint8_t>();
        case Element::int16: return with_value.template operator()<std::int16_t>();
        case Element::boolean: return with_value.template operator()<Boolean>();
    }
}

inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// Whether the given arms are neighbours in memory at every coordinate: then a loop over them is one
// over contiguous values, which the compiler turns into vectors.
inline bool contiguous(const Matrix& matrix, Arms arms) {
    if (matrix.row_stride != 1) return false;
    for (std::int64_t at = 1; at < arms.count; ++at) {
        if (arms.ids[at] != arms.ids[at - 1] + 1) return false;
    }
    return arms.count > 0;
}

}  // namespace sureshot::SURESHOT_ISA
