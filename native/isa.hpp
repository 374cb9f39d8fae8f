// The instruction set in use. The kernels are compiled once for each level that the compiler and the
// processor's family have; the best that this processor has is used unless another one is asked for, by
// the environment variable SURESHOT_INSTRUCTION_SET when the library is loaded, or later.
#pragma once

#include <string>
#include <vector>

#include "kernels.hpp"

namespace sureshot {

// The levels that this build and this processor have, best first.
std::vector<std::string> instruction_sets();

// The kernels in use, and the name of their level. The first call throws std::invalid_argument if the
// environment asks for a level that is not there: made when the library is loaded, it never happens later.
const Kernels& kernels();
std::string instruction_set();

// Uses the kernels of that level from now on. Throws std::invalid_argument unless it is there.
void use_instruction_set(const std::string& name);

}  // namespace sureshot
