// The lock of the README. Usage: 00_first_lock [URL]
#include <pawl/blocking.hpp>

#include <iostream>

using namespace std::chrono_literals;

// In place of a database that stores the largest token and refuses smaller ones: see 05_fencing.
void store(int page, pawl::fencing_token token) {
    std::cout << "page " << page << " under token " << token << '\n';
}

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));

    auto lock = locks.try_acquire("report/nightly", {.ttl = 30s});
    if (!lock) {
        std::cout << "somebody else is at it\n";  // an answer, not an error
        return 0;
    }
    for (int page = 1; page <= 3; ++page) {
        if (lock.lost().stop_requested()) return 1;  // told in time, whatever the network does
        store(page, lock.token());                   // the store refuses an older token
    }
}  // given back here, on every path
