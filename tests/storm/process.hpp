// One process of a storm: threads that want one lock again and again, until they are killed or told
// to stop.
#pragma once

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

}  // namespace storm
