// What the processes of a storm write down. Each line goes to the file in one write, so it survives
// the SIGKILL of its writer the moment after.
#pragma once

#include <support/history.hpp>

#include <atomic>
#include <cstddef>
#include <string>

namespace storm {

// An append-only file, shared by the threads of a process.
class journal {
public:
    explicit journal(const std::string& path);
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;
    ~journal();

    void write(const std::string& line) const;

private:
    int file_;
};

// The fenced resource that the lock guards, in memory that all processes share: the tokens that it
// took, in its own order. Comparing and taking is one step, and nobody who is killed or stopped
// anywhere can keep others from it.
class resource {
public:
    explicit resource(const std::string& folder);
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    ~resource();

    // False: somebody with a larger token has been here.
    bool take(std::uint64_t token) const;

private:
    using cell = std::atomic<std::uint64_t>;
    cell* cells_;
};

// What the storm's processes wrote about themselves.
struct testimony {
    support::history history;
    int late = 0;     // holders that found their lock lost
    int refused = 0;  // writes that the resource refused
};

[[nodiscard]] testimony read_testimony(const std::string& folder);

// Whether the process with this journal has a lock that it has not begun to give back.
[[nodiscard]] bool holds(const std::string& journal);
// How often it found its lock lost.
[[nodiscard]] int late_ones(const std::string& journal);

}  // namespace storm
