#include "widen.hpp"

#include "elements.hpp"
#include "kernels.hpp"

namespace sureshot::SURESHOT_ISA {

template <class Number>
void widen(Element element, const void* values, std::int64_t step, std::int64_t count, Number* out) {
    with_values(element, [&]<class Value>() {
        const auto* own = static_cast<const Value*>(values);
        if (step == 1) {
            for (std::int64_t at = 0; at < count; ++at) out[at] = number<Number>(own[at]);
        } else {
            for (std::int64_t at = 0; at < count; ++at) out[at] = number<Number>(own[at * step]);
        }
    });
}

template <class Number>
void gather(Element element, const void* first, const std::int64_t* ids, std::int64_t stride,
            std::int64_t count, Number* out) {
    with_values(element, [&]<class Value>() {
        const auto* own = static_cast<const Value*>(first);
        for (std::int64_t at = 0; at < count; ++at) out[at] = number<Number>(own[ids[at] * stride]);
    });
}

void gather_runs(Element element, const void* first, const std::int64_t* ids, std::int64_t count, double* out) {
    with_values(element, [&]<class Value>() {
        const auto* own = static_cast<const Value*>(first);
        for (std::int64_t at = 0; at < count; at += run) {
            for (std::int64_t lane = 0; lane < run; ++lane) out[at + lane] = number(own[ids[at] + lane]);
        }
    });
}

void widen_rows(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end, float* values,
                std::int64_t stride) noexcept {
    for (std::int64_t arm = 0; arm < arms.count; ++arm) {
        widen(matrix.element, address_of(matrix, arms.ids[arm], begin), matrix.column_stride, end - begin,
              values + arm * stride);
    }
}

template void widen(Element, const void*, std::int64_t, std::int64_t, float*);
template void widen(Element, const void*, std::int64_t, std::int64_t, double*);
template void gather(Element, const void*, const std::int64_t*, std::int64_t, std::int64_t, float*);
template void gather(Element, const void*, const std::int64_t*, std::int64_t, std::int64_t, double*);

}  // namespace sureshot::SURESHOT_ISA
