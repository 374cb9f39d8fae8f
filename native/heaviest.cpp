#include "heaviest.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "order.hpp"

namespace sureshot {
namespace {

// A key is how far the bits of a number of float32 from 0 to 1, which ascend with it, are below those of 1.
constexpr std::uint32_t bits_of_one = std::bit_cast<std::uint32_t>(1.0f);
constexpr int key_bits = std::bit_width(bits_of_one);

struct Keyed {
    std::uint32_t key;
    std::uint32_t at;
};

// Sorts by some bits of the keys, and leaves equal ones in their order.
void sort_by(int shift, int bits, const std::vector<Keyed>& from, std::vector<Keyed>& to) {
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    std::vector<std::size_t> starts(std::size_t{mask} + 2);
    for (const Keyed& one : from) ++starts[(one.key >> shift & mask) + 1];
    for (std::size_t digit = 1; digit < starts.size(); ++digit) starts[digit] += starts[digit - 1];
    for (const Keyed& one : from) to[starts[one.key >> shift & mask]++] = one;
}

void shuffle(Keyed* first, std::uint64_t count, Random& random) {
    for (std::uint64_t left = count; left > 1; --left) std::swap(first[random.below(left)], first[left - 1]);
}

}  // namespace

std::vector<std::int64_t> heaviest_first(const double* weights, std::int64_t count, std::uint64_t seed) {
    if (count == 0) return {};
    const double largest = std::max(*std::max_element(weights, weights + count), 0.0);
    std::vector<Keyed> ordered(static_cast<std::size_t>(count)), room(ordered.size());
    for (std::size_t at = 0; at < ordered.size(); ++at) {
        const auto share = static_cast<float>(largest > 0.0 ? weights[at] / largest : 0.0);
        ordered[at] = {bits_of_one - std::bit_cast<std::uint32_t>(share), static_cast<std::uint32_t>(at)};
    }
    constexpr int digit = 10;
    static_assert(key_bits <= 3 * digit);
    for (int shift = 0; shift < key_bits; shift += digit) {
        sort_by(shift, digit, ordered, room);
        ordered.swap(room);
    }
    Random random(seed);
    for (std::size_t first = 0, last = 0; first < ordered.size(); first = last) {
        while (last < ordered.size() && ordered[last].key == ordered[first].key) ++last;
        shuffle(ordered.data() + first, last - first, random);
    }
    std::vector<std::int64_t> found(ordered.size());
    std::transform(ordered.begin(), ordered.end(), found.begin(), [](const Keyed& one) { return one.at; });
    return found;
}

}  // namespace sureshot
