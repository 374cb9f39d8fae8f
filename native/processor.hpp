// What the processor that this runs on can do.
#pragma once

namespace sureshot {

// The instructions of x86-64-v3 and of v4, and a system that keeps their registers; false on other processors.
bool has_v3();
bool has_v4();

}  // namespace sureshot
