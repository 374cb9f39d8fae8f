// What this processor can do, by name.
#pragma once

#include <string>
#include <vector>

namespace sureshot {

std::vector<std::string> cpu_features();

}  // namespace sureshot
