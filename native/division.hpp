// Whole numbers, divided and rounded up.
#pragma once

#include <cstdint>

namespace sureshot {

constexpr std::int64_t divided_up(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }
constexpr std::int64_t rounded_up(std::int64_t count, std::int64_t size) { return divided_up(count, size) * size; }

}  // namespace sureshot
