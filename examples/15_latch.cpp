// A latch that opens when three workers have loaded their parts, and a barrier for their rounds.
// Usage: 15_latch [URL]
#include <pawl/blocking_latch.hpp>

#include <array>
#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));

    pawl::blocking::latch loaded(locks, "loaded");
    if (!loaded.try_set(3)) {
        return 1;  // the latch is counting: another program loads
    }
    constexpr int rounds = 4;
    std::atomic<bool> early = false;
    std::atomic<int> parts = 0;
    std::array<std::atomic<int>, rounds> done{};
    const auto worker = [&] {
        ++parts;
        loaded.count_down();  // a worker that dies before this leaves the count unchanged
        pawl::blocking::barrier all(locks, "round", 3);
        for (auto& here : done) {
            ++here;
            all.arrive_and_wait();  // in any process: three workers have done this round
            early = early || here != 3;
        }
    };
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 3; ++i) {
            crowd.emplace_back(worker);
        }
        if (!loaded.wait_for(1min)) {  // so the wait has a limit
            std::cout << "still missing: " << loaded.inspect().count << '\n';
            return 1;
        }
        std::cout << "loaded, " << parts << " parts\n";
    }
    std::cout << rounds << " rounds" << '\n';
    return early || parts != 3 ? 1 : 0;
}
