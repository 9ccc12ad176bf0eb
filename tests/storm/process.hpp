// One process of a storm: threads that want one lock again and again, until they are killed or told
// to stop.
#pragma once

#include <cstddef>
#include <string>

namespace storm {

struct orders {
    std::string url;
    std::string folder;  // for journals and the resource
    std::string name;    // of this process
    int threads = 8;
};

// Until stdin ends. The exit status for main.
int run_process(const orders& what);

// One process that wants each of these locks once, and keeps what it gets. Until stdin ends.
int wait_for_each(const std::string& url, int names);

// The same with the stripes of a lock, one or two at a time; each has a folder of its own.
inline constexpr std::size_t stripes = 3;
[[nodiscard]] std::string folder_of_stripe(const std::string& folder, std::size_t index);
int run_stripes(const orders& what);

// Holds "it" under a value; a process whose name begins with "chain" takes over what the one before
// it held, and goes on until it is killed.
int run_adopter(const orders& what);

}  // namespace storm
