// The workers of the process. Teams borrow them, so that a call finds threads that are awake: to start one, or
// to wake it, takes longer than a small search. A fork leaves all threads behind: the child forgets its workers
// and starts others.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "worker.hpp"

namespace sureshot {

using Workers = std::vector<std::shared_ptr<Worker>>;

// Adds workers until there are `wanted`: first those that were returned last, since they may be awake, and then
// new ones, unless only idle ones are wanted or the system allows no more threads.
void borrow_workers(Workers& workers, std::size_t wanted, bool only_idle);

// Returns workers without a task to the process. It keeps as many as the machine has threads, and dismisses the
// others.
void return_workers(Workers& workers) noexcept;

}  // namespace sureshot
