// Which arms can be among the k best, by scores that are known within errors.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels.hpp"
#include "largest.hpp"

namespace sureshot {

// The arms whose upper end is at least the k-th largest of all lower ends and of the best scores so far, and those of
// which nothing is known. Every thread compares with the lower ends that it has seen itself; what it keeps is
// compared with all of them in the end, so the arms that are found do not depend on the threads.
class Candidates {
 public:
    Candidates(std::int64_t threads, std::int64_t n_arms, std::int64_t k, const double* best, std::int64_t n_best);

    // Takes the scores of the arms from `first` on. Each arm is shown once.
    void show(std::int64_t thread, std::int64_t first, const Uncertain& scores) noexcept;

    // In ascending order.
    std::vector<std::int64_t> found() const;

 private:
    Largest best_;                      // so far
    std::vector<Largest> lower_ends_;   // of each thread, and the best so far
    std::int64_t n_arms_;
    std::unique_ptr<char[]> kept_;      // 1 for each arm that is kept
    std::unique_ptr<double[]> upper_;   // the upper ends of these
};

}  // namespace sureshot
