#include "best_of_each.hpp"

#include <algorithm>
#include <memory>

namespace sureshot {
namespace {

struct Scored {
    double score;
    std::int64_t arm;
};

// To sort one of the k best takes as long as to look at so many others.
constexpr std::int64_t numbers_of_a_place = 16;

bool better(const Scored& a, const Scored& b) { return a.score != b.score ? a.score > b.score : a.arm < b.arm; }

// `heap` has room for k of them; without arms they are 0, 1, ...
void choose(const double* scores, const std::int64_t* arms, std::int64_t count, std::int64_t k, Scored* heap,
            std::int64_t* best_arms, double* best_scores) {
    const auto scored = [&](std::int64_t at) { return Scored{scores[at], arms == nullptr ? at : arms[at]}; };
    for (std::int64_t at = 0; at < k; ++at) heap[at] = scored(at);
    if (count > k) std::make_heap(heap, heap + k, better);  // the worst in front
    for (std::int64_t at = k; at < count; ++at) {
        if (scores[at] < heap[0].score) continue;
        const Scored next = scored(at);
        if (!better(next, heap[0])) continue;
        std::pop_heap(heap, heap + k, better);
        heap[k - 1] = next;
        std::push_heap(heap, heap + k, better);
    }
    count > k ? std::sort_heap(heap, heap + k, better) : std::sort(heap, heap + k, better);
    for (std::int64_t at = 0; at < k; ++at) {
        best_arms[at] = heap[at].arm;
        best_scores[at] = heap[at].score;
    }
}

}  // namespace

void best(const double* scores, const std::int64_t* arms, std::int64_t count, std::int64_t k, std::int64_t* best_arms,
          double* best_scores) {
    if (k == 0) return;
    const auto heap = std::make_unique<Scored[]>(static_cast<std::size_t>(k));
    choose(scores, arms, count, k, heap.get(), best_arms, best_scores);
}

void best_of_each(Team& team, const double* scores, const std::int64_t* arms, const std::int64_t* starts,
                  std::int64_t n_lists, std::int64_t k, std::int64_t* best_arms, double* best_scores) {
    if (k == 0 || n_lists == 0) return;
    // A heap of k for each thread.
    const auto heaps = std::make_unique<Scored[]>(static_cast<std::size_t>(team.threads() * k));
    const std::int64_t each = (starts[n_lists] - starts[0]) / n_lists + 1;
    team.run(n_lists, each + numbers_of_a_place * k, [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
        Scored* const heap = heaps.get() + thread * k;
        for (std::int64_t list = begin; list < end; ++list) {
            const std::int64_t first = starts[list], last = starts[list + 1];
            const std::int64_t* own = arms == nullptr ? nullptr : arms + first;
            choose(scores + first, own, last - first, k, heap, best_arms + list * k, best_scores + list * k);
        }
    });
}

}  // namespace sureshot
