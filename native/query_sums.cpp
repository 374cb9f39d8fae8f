#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// `positive`: no term is negative, so that the sum of the absolute values is the sum itself.
struct Absolute {
    static constexpr bool positive = false;  // factors may be negative
    static double term(double value, double by) { return magnitude_of(value) * by; }
};
struct Square {
    static constexpr bool positive = true;
    static double term(double value, double) { return value * value; }
};
struct Product {
    static constexpr bool positive = false;
    static double term(double value, double by) { return value * by; }
};

// Blocks of any size, with the lanes of all other sums. `each` says whether every coordinate has a factor of its own.
template <class Term, bool each, class Query>
void sum_blocks(const QueryTerms& terms, const Query* query, std::int64_t begin, std::int64_t end,
                double* __restrict sums, double* __restrict sizes) {
    const double* const by = terms.by;
    const double common = by[0];
    for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t start = block * terms.size - terms.shift;
        const std::int64_t stop = smaller(start + terms.size, terms.count);
        double sum[lanes] = {}, size[lanes] = {};
        std::int64_t j = start > 0 ? start : 0;
        for (; j + lanes <= stop; j += lanes) {
            SURESHOT_ONE_VECTOR
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                const double term = Term::term(static_cast<double>(query[j + lane]), each ? by[j + lane] : common);
                sum[lane] += term;
                if constexpr (!Term::positive) size[lane] += magnitude_of(term);
            }
        }
        for (std::int64_t lane = 0; j < stop; ++lane, ++j) {
            const double term = Term::term(static_cast<double>(query[j]), each ? by[j] : common);
            sum[lane] += term;
            if constexpr (!Term::positive) size[lane] += magnitude_of(term);
        }
        sums[block] = sum_of_lanes(sum);
        sizes[block - begin] = Term::positive ? sums[block] : sum_of_lanes(size);
    }
}

template <class Term, bool each, class Query>
void single_terms(const QueryTerms& terms, const Query* query, std::int64_t begin, std::int64_t end,
                  double* __restrict sums, double* __restrict sizes) {
    const double* const by = terms.by;
    const double common = by[0];
    for (std::int64_t j = begin; j < end; ++j) {
        const double term = Term::term(static_cast<double>(query[j]), each ? by[j] : common);
        sums[j] = term;
        sizes[j - begin] = magnitude_of(term);
    }
}

template <class Term, class Query>
void sum_terms_of(const QueryTerms& terms, const Query* query, std::int64_t begin, std::int64_t end, double* sums,
                  double* sizes) {
    const bool single = terms.size == 1;
    const auto add = terms.each ? (single ? single_terms<Term, true, Query> : sum_blocks<Term, true, Query>)
                                : (single ? single_terms<Term, false, Query> : sum_blocks<Term, false, Query>);
    add(terms, query, begin, end, sums, sizes);
}

template <class Term>
void sum_terms(const QueryTerms& terms, std::int64_t begin, std::int64_t end, double* sums, double* sizes) {
    if (terms.doubles == nullptr) return sum_terms_of<Term>(terms, terms.floats, begin, end, sums, sizes);
    sum_terms_of<Term>(terms, terms.doubles, begin, end, sums, sizes);
}

}  // namespace

void query_sums(const QueryTerms& terms, std::int64_t begin, std::int64_t end, double* sums, double* sizes) noexcept {
    switch (terms.term) {
        case QueryTerm::absolute: return sum_terms<Absolute>(terms, begin, end, sums, sizes);
        case QueryTerm::square: return sum_terms<Square>(terms, begin, end, sums, sizes);
        case QueryTerm::product: return sum_terms<Product>(terms, begin, end, sums, sizes);
    }
}

}  // namespace sureshot::SURESHOT_ISA
