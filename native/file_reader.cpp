#include "file_reader.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "system.hpp"

namespace sureshot {
namespace {

// What follows each other is read together, up to so many bytes: enough for the speed of a stream, and few enough that
// all threads have some.
constexpr std::int64_t longest_request = std::int64_t{1} << 20;

// Pages whose presence is asked for.
constexpr std::int64_t sampled_pages = 256;

struct Request {
    char* out;
    std::int64_t offset;
    std::int64_t length;
};

std::vector<Request> requests_for(const Pieces& pieces) {
    std::vector<Request> found;
    for (std::int64_t first = 0, next = 0; first < pieces.count; first = next) {
        std::int64_t length = 0;  // of neighbours
        do {
            length += pieces.length;
            ++next;
        } while (next < pieces.count && pieces.offsets[next] == pieces.offsets[first] + length);
        for (std::int64_t start = 0; start < length; start += longest_request) {
            found.push_back({pieces.out + first * pieces.length + start, pieces.offsets[first] + start,
                             std::min(longest_request, length - start)});
        }
    }
    return found;
}

std::string words_of(int code, std::int64_t offset) {
    if (code == 0) return "the file ends before byte " + std::to_string(offset);
    return "byte " + std::to_string(offset) + " could not be read: " + std::strerror(code);
}

}  // namespace

struct FileReader::Queue {
    std::vector<std::thread> threads;
    std::mutex callers;  // one at a time
    std::mutex state;    // of what follows
    std::condition_variable wake, done;
    bool ending = false;
    int descriptor = -1;
    std::vector<Request> requests;
    std::size_t next = 0;
    std::int64_t busy = 0;        // threads at work
    std::int64_t failed_at = -1;  // byte of the file, if a request has failed
    int code = 0;

    void serve();
    void answer(Request request);
    void end();
};

FileReader::FileReader(int threads) : process_(process_number()), queue_(std::make_unique<Queue>()) {
    Queue& queue = *queue_;
    try {
        queue.threads.reserve(static_cast<std::size_t>(threads));
        for (int i = 0; i < threads; ++i) queue.threads.emplace_back([&queue] { queue.serve(); });
    } catch (const std::system_error&) {  // no room for more of them
        if (queue.threads.empty()) throw;
    }
}

FileReader::~FileReader() {
    if (process_number() == process_) {
        queue_->end();
    } else {
        // Neither threads that are not there nor what they wait for can be destroyed.
        static_cast<void>(queue_.release());
    }
}

void FileReader::Queue::end() {
    {
        const std::lock_guard lock(state);
        ending = true;
    }
    wake.notify_all();
    for (std::thread& thread : threads) thread.join();
}

void FileReader::read(int descriptor, const Pieces& pieces) {
    if (pieces.count == 0 || pieces.length == 0) return;
    Queue& queue = *queue_;
    std::vector<Request> requests = requests_for(pieces);
    const std::lock_guard caller(queue.callers);
    std::unique_lock lock(queue.state);
    queue.descriptor = descriptor;
    queue.requests.swap(requests);
    queue.next = 0;
    queue.failed_at = -1;
    queue.wake.notify_all();
    queue.done.wait(lock, [&] { return queue.next == queue.requests.size() && queue.busy == 0; });
    if (queue.failed_at >= 0) throw ReadError(queue.code, queue.failed_at, words_of(queue.code, queue.failed_at));
}

void FileReader::Queue::serve() {
    std::unique_lock lock(state);
    for (;;) {
        wake.wait(lock, [this] { return ending || next < requests.size(); });
        if (ending) return;
        ++busy;
        while (next < requests.size()) {
            const Request request = requests[next++];
            lock.unlock();
            answer(request);
            lock.lock();
        }
        if (--busy == 0) done.notify_one();
    }
}

void FileReader::Queue::answer(Request request) {
    auto [out, offset, length] = request;
    int failure = 0;
    while (length > 0) {
        const std::int64_t got = read_at(descriptor, out, length, offset, failure);
        if (got <= 0) break;
        out += got;
        offset += got;
        length -= got;
    }
    if (length == 0) return;
    const std::lock_guard lock(state);
    if (failed_at < 0 || offset < failed_at) {
        failed_at = offset;
        code = failure;
    }
    next = requests.size();  // What is left need not be tried.
}

double resident_share(const Matrix& matrix) {
    const auto first = reinterpret_cast<std::uintptr_t>(matrix.data);
    std::int64_t resident = 0;
    for (std::int64_t i = 0; i < sampled_pages; ++i) {
        const std::int64_t row = i * matrix.n_rows / sampled_pages, column = i * matrix.n_columns / sampled_pages;
        const std::int64_t value = row * matrix.row_stride + column * matrix.column_stride;
        resident += is_resident(first + static_cast<std::uintptr_t>(value * size_of(matrix.element)));
    }
    return static_cast<double>(resident) / static_cast<double>(sampled_pages);
}

}  // namespace sureshot
