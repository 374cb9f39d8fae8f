// The largest of many values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace sureshot {

// Keeps the `count` largest of the values it is shown, with their keys.
class Largest {
 public:
    // Takes all of its memory now: jobs of a team, which must not throw, can show it values.
    explicit Largest(std::int64_t count) : count_(static_cast<std::size_t>(count)) { heap_.reserve(count_); }

    void show(double value, std::int64_t key) {
        if (value > bar_) keep(value, key);
    }

    // The smallest of them, or minus infinity if fewer were shown.
    double last() const { return heap_.size() < count_ ? lowest : heap_.front().value; }

    // Calls f(value, key) with each of them.
    template <class F>
    void each(const F& f) const {
        for (const Entry& entry : heap_) f(entry.value, entry.key);
    }

    std::vector<std::int64_t> keys() const {
        std::vector<std::int64_t> found;
        for (const Entry& entry : heap_) found.push_back(entry.key);
        std::sort(found.begin(), found.end());
        return found;
    }

 private:
    static constexpr double lowest = -std::numeric_limits<double>::infinity();

    struct Entry {
        double value;
        std::int64_t key;
    };
    static bool above(const Entry& a, const Entry& b) { return a.value > b.value; }

    void keep(double value, std::int64_t key) {
        if (heap_.size() < count_) {
            heap_.push_back({value, key});
            std::push_heap(heap_.begin(), heap_.end(), above);
        } else {
            std::pop_heap(heap_.begin(), heap_.end(), above);
            heap_.back() = {value, key};
            std::push_heap(heap_.begin(), heap_.end(), above);
        }
        if (heap_.size() == count_) bar_ = heap_.front().value;
    }

    double bar_ = lowest;
    std::size_t count_;
    std::vector<Entry> heap_;  // the smallest in front
};

}  // namespace sureshot
