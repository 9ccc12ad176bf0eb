// Many threads read a price list, and one at a time changes it. A writer becomes a reader, and no
// other writer gets the lock in between. Usage: 13_shared [URL]
#include <pawl/shared_mutex.hpp>

#include <atomic>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct price_list {
    int apples = 100;
    int pears = 100;  // always equal to apples
};

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    pawl::blocking::shared_mutex door(locks, "prices", {.ttl = 10s});

    price_list prices;
    std::atomic<int> wrong = 0;
    const auto read = [&] {
        for (int i = 0; i < 20; ++i) {
            const std::shared_lock inside(door);  // beside other readers, in any process
            if (prices.apples != prices.pears) ++wrong;
        }
    };
    const auto change = [&] {
        for (int i = 0; i < 10; ++i) {
            const std::unique_lock inside(door);  // waits for the readers; later ones wait, too
            ++prices.apples;
            ++prices.pears;
        }
    };
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 3; ++i) {
            crowd.emplace_back(read);
        }
        crowd.emplace_back(change);
    }

    auto lock = locks.acquire("prices", {.ttl = 10s, .wait = 1min});
    ++prices.apples;
    ++prices.pears;
    lock.downgrade();  // readers come in, and no writer before we leave
    const auto beside = locks.try_acquire("prices", {.mode = pawl::lock_mode::shared});
    std::cout << "apples " << prices.apples << ", pears " << prices.pears << " under token "
              << lock.token() << '\n';
    return wrong == 0 && prices.pears == 111 && beside ? 0 : 1;
}
