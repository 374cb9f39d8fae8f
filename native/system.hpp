// What systems do in different ways: numbers of processes, parts of files, pages of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sureshot {

// A number that a process shares with none of those it is forked from.
int process_number();

// Reads up to `length` bytes of an open file, from a byte on, and leaves its position to others. Returns how many, 0 at the
// end of the file and -1 for an error, whose errno is in `code`.
std::int64_t read_at(int descriptor, char* out, std::int64_t length, std::int64_t offset, int& code);

// Whether the page with this address lies in memory; true where the system does not tell.
bool is_resident(std::uintptr_t address);

// Asks for pages as large as there are, for memory that begins with one.
void ask_for_huge_pages(void* memory, std::size_t bytes);

}  // namespace sureshot
