// Reads many pieces of a file at once: a disk answers many requests in little more time than one, and page faults
// of a memory map come one after the other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sureshot {

// A piece that could not be read: an error of the system, or the end of the file.
struct ReadError : std::runtime_error {
    ReadError(int code, std::int64_t offset, const std::string& words)
        : std::runtime_error(words), code(code), offset(offset) {}
    int code;  // errno; 0 where the file ends too soon
    std::int64_t offset;
};

// Pieces of equal length, and where each of them goes.
struct Pieces {
    const std::int64_t* offsets;  // in the file
    std::int64_t count;
    std::int64_t length;  // bytes of each
    char* out;            // one after the other
};

class FileReader {
 public:
    // The descriptor is borrowed. The threads wait for the disk: there are more of them than cores.
    FileReader(int descriptor, int threads);
    ~FileReader();
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    // Reads all pieces, the long ones in several requests at once, and returns when they are there. Throws
    // ReadError for the first piece that cannot be read. One caller at a time: others wait.
    void read(const Pieces& pieces);

 private:
    void serve();
    void read_request(std::int64_t request);
    void read_part(char* out, std::int64_t offset, std::int64_t length);

    const int descriptor_;
    const int process_;  // A process that is forked has none of the threads.
    std::unique_ptr<std::vector<std::thread>> threads_;

    std::mutex callers_;  // one at a time
    std::mutex state_;    // of what follows
    std::condition_variable wake_, done_;
    bool ending_ = false;
    std::uint64_t job_ = 0;
    Pieces pieces_{};
    std::int64_t requests_of_piece_ = 1, next_ = 0, count_ = 0;
    std::int64_t busy_ = 0;  // threads at work
    std::int64_t failed_at_ = -1;  // byte of the file, if a request has failed
    int code_ = 0;
};

// The share of the pages of some memory that the kernel holds, from a sample of them; 1 where it does not tell.
double resident_share(const void* start, std::int64_t bytes);

}  // namespace sureshot
