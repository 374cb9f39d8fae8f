#include "file_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#if defined(__unix__) || defined(__APPLE__)
#define SURESHOT_HAS_PREAD
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace sureshot {
namespace {

// A longer piece is read in parts: enough for the speed of a stream, and few enough bytes that all threads have some.
constexpr std::int64_t longest_request = std::int64_t{1} << 20;

// Pages whose presence is asked for.
constexpr std::int64_t sampled_pages = 256;

std::int64_t parts_of(std::int64_t length) { return (length + longest_request - 1) / longest_request; }

int process() {
#ifdef SURESHOT_HAS_PREAD
    return static_cast<int>(getpid());
#else
    return 0;
#endif
}

std::string words_of(int code, std::int64_t offset) {
    if (code == 0) return "the file ends before byte " + std::to_string(offset);
    return "byte " + std::to_string(offset) + " could not be read: " + std::strerror(code);
}

}  // namespace

FileReader::FileReader(int descriptor, int threads)
    : descriptor_(descriptor),
      process_(process()),
      threads_(std::make_unique<std::vector<std::thread>>()) {
    threads_->reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) threads_->emplace_back([this] { serve(); });
}

FileReader::~FileReader() {
    if (process() != process_) {
        static_cast<void>(threads_.release());  // They cannot be waited for.
        return;
    }
    {
        const std::lock_guard lock(state_);
        ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : *threads_) thread.join();
}

void FileReader::read(const Pieces& pieces) {
    if (pieces.count == 0 || pieces.length == 0) return;
    const std::lock_guard caller(callers_);
    std::unique_lock lock(state_);
    pieces_ = pieces;
    requests_of_piece_ = parts_of(pieces.length);
    next_ = 0;
    count_ = pieces.count * requests_of_piece_;
    failed_at_ = -1;
    ++job_;
    wake_.notify_all();
    done_.wait(lock, [this] { return next_ >= count_ && busy_ == 0; });
    if (failed_at_ >= 0) throw ReadError(code_, failed_at_, words_of(code_, failed_at_));
}

void FileReader::serve() {
    std::unique_lock lock(state_);
    for (std::uint64_t served = 0;;) {
        wake_.wait(lock, [&] { return ending_ || (job_ != served && next_ < count_); });
        if (ending_) return;
        served = job_;
        ++busy_;
        while (next_ < count_) {
            const std::int64_t request = next_++;
            lock.unlock();
            read_request(request);
            lock.lock();
        }
        if (--busy_ == 0) done_.notify_one();
    }
}

void FileReader::read_request(std::int64_t request) {
    const std::int64_t piece = request / requests_of_piece_;
    const std::int64_t start = request % requests_of_piece_ * longest_request;
    const std::int64_t length = std::min(longest_request, pieces_.length - start);
    read_part(pieces_.out + piece * pieces_.length + start, pieces_.offsets[piece] + start, length);
}

void FileReader::read_part(char* out, std::int64_t offset, std::int64_t length) {
    int code = ENOSYS;
#ifdef SURESHOT_HAS_PREAD
    while (length > 0) {
        const ssize_t got = pread(descriptor_, out, static_cast<std::size_t>(length), static_cast<off_t>(offset));
        if (got > 0) {
            out += got;
            offset += got;
            length -= got;
        } else if (got == 0 || errno != EINTR) {
            code = got == 0 ? 0 : errno;
            break;
        }
    }
    if (length == 0) return;
#endif
    const std::lock_guard lock(state_);
    if (failed_at_ < 0 || offset < failed_at_) {
        failed_at_ = offset;
        code_ = code;
    }
    next_ = count_;  // What is left need not be tried.
}

double resident_share(const void* start, std::int64_t bytes) {
#ifdef SURESHOT_HAS_PREAD
    const auto page = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(start) / static_cast<std::uintptr_t>(page);
    const std::int64_t pages = (bytes + page - 1) / page;
    const std::int64_t sampled = std::min(pages, sampled_pages);
    std::int64_t resident = 0;
    for (std::int64_t i = 0; i < sampled; ++i) {
        const std::int64_t at = i * pages / sampled;
        auto* address = reinterpret_cast<char*>((first + static_cast<std::uintptr_t>(at)) *
                                                static_cast<std::uintptr_t>(page));
#ifdef __APPLE__
        char state = 0;
#else
        unsigned char state = 0;
#endif
        if (mincore(address, static_cast<std::size_t>(page), &state) != 0) return 1.0;
        resident += state & 1;
    }
    return sampled == 0 ? 1.0 : static_cast<double>(resident) / static_cast<double>(sampled);
#else
    (void)start;
    (void)bytes;
    return 1.0;
#endif
}

}  // namespace sureshot
