#include "isa.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "processor.hpp"

namespace sureshot {

// One copy of kernels.cpp each; CMakeLists.txt says which there are.
namespace avx512 { extern const Kernels kernels; }
namespace avx2 { extern const Kernels kernels; }
namespace neon { extern const Kernels kernels; }
namespace portable { extern const Kernels kernels; }

namespace {

// The environment may name a level, to test another one than the best.
constexpr const char* variable = "SURESHOT_INSTRUCTION_SET";

struct Level {
    const char* name;
    const Kernels* kernels;
};

std::vector<Level> levels() {
    std::vector<Level> found;
#ifdef SURESHOT_HAS_avx512
    if (has_v4()) found.push_back({"avx512", &avx512::kernels});
#endif
#ifdef SURESHOT_HAS_avx2
    if (has_v3()) found.push_back({"avx2", &avx2::kernels});
#endif
#ifdef SURESHOT_HAS_neon
    found.push_back({"neon", &neon::kernels});
#endif
#ifdef SURESHOT_HAS_portable
    found.push_back({"portable", &portable::kernels});
#endif
    return found;
}

// The kernels of the level of that name; `what` names the source of the name in the error.
const Kernels* named(const std::string& name, const std::string& what) {
    std::string known;
    for (const Level& level : levels()) {
        if (level.name == name) return level.kernels;
        known += known.empty() ? "" : ", ";
        known += level.name;
    }
    throw std::invalid_argument(what + " must be one of " + known + "; got " + name);
}

const Kernels* first_choice() {
    const char* asked = std::getenv(variable);
    return asked == nullptr || *asked == '\0' ? levels().front().kernels : named(asked, variable);
}

std::atomic<const Kernels*>& in_use() {
    static std::atomic<const Kernels*> chosen{first_choice()};
    return chosen;
}

}  // namespace

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const Level& level : levels()) names.emplace_back(level.name);
    return names;
}

const Kernels& kernels() { return *in_use().load(); }

std::string instruction_set() {
    for (const Level& level : levels()) {
        if (level.kernels == in_use().load()) return level.name;
    }
    return {};
}

void use_instruction_set(const std::string& name) { in_use().store(named(name, "instruction set")); }

}  // namespace sureshot
