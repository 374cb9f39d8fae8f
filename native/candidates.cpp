#include "candidates.hpp"

#include <algorithm>
#include <cstring>

#include "isa.hpp"

namespace sureshot {
namespace {

constexpr std::int64_t known_before = -1;  // the key of a score that is not one of these arms

}  // namespace

Candidates::Candidates(std::int64_t threads, std::int64_t n_arms, std::int64_t k, const double* best,
                       std::int64_t n_best)
    : best_(k),
      n_arms_(n_arms),
      kept_(new char[static_cast<std::size_t>(n_arms)]()),
      upper_(new double[static_cast<std::size_t>(n_arms)]) {
    for (std::int64_t at = 0; at < n_best; ++at) best_.show(best[at], known_before);
    lower_ends_.reserve(static_cast<std::size_t>(threads));
    // Not copies: these would have no room for more.
    for (std::int64_t thread = 0; thread < threads; ++thread) {
        lower_ends_.emplace_back(k);
        for (std::int64_t at = 0; at < n_best; ++at) lower_ends_.back().show(best[at], known_before);
    }
}

void Candidates::show(std::int64_t thread, std::int64_t first, const Uncertain& scores) noexcept {
    Largest& lower_ends = lower_ends_[static_cast<std::size_t>(thread)];
    const auto from = [](const double* values, std::int64_t at) { return values == nullptr ? nullptr : values + at; };
    Ends ends;
    for (std::int64_t start = 0; start < scores.count; start += ends_at_once) {
        Uncertain few = scores;
        few.sums += start;
        few.squares = from(few.squares, start);
        few.scale = from(few.scale, start);
        few.norms = from(few.norms, start);
        few.count = std::min(ends_at_once, scores.count - start);
        if (kernels().ends(few, lower_ends.last(), ends) == 0) continue;
        for (std::int64_t at = 0; at < few.count; ++at) {
            if (ends.upper[at] < lower_ends.last()) continue;
            kept_[first + start + at] = 1;
            upper_[first + start + at] = ends.upper[at];
            lower_ends.show(ends.lower[at], first + start + at);
        }
    }
}

std::vector<std::int64_t> Candidates::found() const {
    Largest all = best_;
    for (const Largest& own : lower_ends_) {
        own.each([&](double value, std::int64_t arm) {
            if (arm != known_before) all.show(value, arm);
        });
    }
    const double threshold = all.last();
    std::vector<std::int64_t> arms;
    const char* const end = kept_.get() + n_arms_;
    for (const char* at = kept_.get(); at < end; ++at) {
        at = static_cast<const char*>(std::memchr(at, 1, static_cast<std::size_t>(end - at)));
        if (at == nullptr) break;
        const std::int64_t arm = at - kept_.get();
        if (!(upper_[arm] < threshold)) arms.push_back(arm);
    }
    return arms;
}

}  // namespace sureshot
