// Reads many pieces of a file at once: a disk answers many requests in little more time than one, and page faults
// of a memory map come one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "matrix.hpp"

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
    // The threads wait for the disk: there are more of them than cores. Where the system has no room for so many there
    // are fewer.
    explicit FileReader(int threads);
    ~FileReader();
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    // Reads all pieces of an open file, neighbours as one and long ones by several requests, and returns when they are there.
    // Throws ReadError for the first piece that cannot be read. One caller at a time: others wait.
    void read(int descriptor, const Pieces& pieces);

 private:
    struct Queue;  // what the threads share

    const int process_;  // A process that is forked has none of the threads.
    std::unique_ptr<Queue> queue_;
};

// The share of the values of a matrix that lie in memory, from a sample along its diagonal; 1 where the system does not
// tell.
double resident_share(const Matrix& matrix);

}  // namespace sureshot
