// What ../run.py may ask a driver of Pawl for; one face for coroutines, one for threads.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace peers {

struct pairs_result {
    std::int64_t pairs = 0;
    double seconds = 0;
    std::vector<double> us;  // of each pair, where there is one user
};

class face {
public:
    virtual ~face() = default;

    virtual pairs_result pairs(int users, double seconds) = 0;
    virtual std::vector<double> handoff(int users, int clients, double seconds) = 0;
    virtual void take(const std::string& name) = 0;
    virtual void give(const std::string& name) = 0;
    // Waits with a client of its own, in the background.
    virtual void wait(const std::string& name, std::function<void()> got) = 0;
    virtual void watch(const std::string& name, pawl::duration ttl, std::function<void()> lost) = 0;
};

[[nodiscard]] std::unique_ptr<face> make_coroutines(std::string url);
[[nodiscard]] std::unique_ptr<face> make_threads(std::string url);

[[nodiscard]] double microseconds(pawl::duration span);
// How long a holder keeps the lock in a hand-off: 2 to 12 ms, so that the others stand in line.
[[nodiscard]] pawl::duration pause();

// Users of one name hand it round: who has released asks again only when another one has it. Not
// synchronized.
struct round {
    std::vector<double> us;
    pawl::time_point released{};
    std::int64_t turn = 0;
    bool over = false;

    // The number of this turn.
    std::int64_t enter(pawl::time_point now) {
        if (released != pawl::time_point{} && !over) us.push_back(microseconds(now - released));
        return ++turn;
    }
    [[nodiscard]] bool must_wait(std::int64_t mine) const { return turn == mine && !over; }
};

}  // namespace peers
