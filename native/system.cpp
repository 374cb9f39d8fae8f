#include "system.hpp"

#include <cerrno>

#if defined(_WIN32)
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <io.h>
#include <windows.h>

#include <algorithm>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace sureshot {

#if defined(_WIN32)

int process_number() { return 0; }  // Windows has no fork.

std::int64_t read_at(int descriptor, char* out, std::int64_t length, std::int64_t offset, int& code) {
    constexpr std::int64_t most = std::int64_t{1} << 30;  // of one call
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset & 0xffffffff);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD got = 0;
    const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
    if (ReadFile(handle, out, static_cast<DWORD>(std::min(length, most)), &got, &place)) return got;
    if (GetLastError() == ERROR_HANDLE_EOF) return 0;
    code = EIO;
    return -1;
}

bool is_resident(std::uintptr_t) { return true; }

#else

int process_number() { return static_cast<int>(getpid()); }

std::int64_t read_at(int descriptor, char* out, std::int64_t length, std::int64_t offset, int& code) {
    for (;;) {
        const ssize_t got = pread(descriptor, out, static_cast<std::size_t>(length), static_cast<off_t>(offset));
        if (got >= 0) return got;
        if (errno != EINTR) {
            code = errno;
            return -1;
        }
    }
}

bool is_resident(std::uintptr_t address) {
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
#if defined(__linux__)
    unsigned char state = 0;
#else
    char state = 0;
#endif
    return mincore(reinterpret_cast<char*>(address / page * page), page, &state) != 0 || (state & 1) != 0;
}

#endif

void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace sureshot
