// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The operations that ../run.py asks of a driver for Pawl; one implementation uses coroutines, one
// uses threads.
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
    std::vector<double> us;  // for each pair, if there is one user
};

class lock_driver {
public:
    virtual ~lock_driver() = default;

    virtual pairs_result measure_pairs(int users, double seconds) = 0;
    virtual std::vector<double> measure_handoff(int users, int clients, double seconds) = 0;
    virtual void acquire(const std::string& name) = 0;
    virtual void release(const std::string& name) = 0;
    // Acquires and releases in the background, with another client than `acquire`.
    virtual void acquire_in_background(const std::string& name,
                                       std::function<void()> on_acquired) = 0;
    virtual void watch_loss(const std::string& name, pawl::duration ttl,
                            std::function<void()> on_lost) = 0;
};

[[nodiscard]] std::unique_ptr<lock_driver> make_coroutines(std::string url);
[[nodiscard]] std::unique_ptr<lock_driver> make_threads(std::string url);

[[nodiscard]] double microseconds(pawl::duration span);
// The time that a holder keeps the lock in a hand-off: 2 to 12 ms, so that the others are in the
// queue.
[[nodiscard]] pawl::duration random_hold_time();

// Users of one lock, who pass it on in a ring: a user that has released the lock requests it again
// only after another user has it. Not synchronized.
struct handoff_ring {
    std::vector<double> us;
    pawl::time_point released{};
    std::int64_t turn = 0;
    bool over = false;

    // Returns the number of this turn.
    std::int64_t enter(pawl::time_point now) {
        if (released != pawl::time_point{} && !over) us.push_back(microseconds(now - released));
        return ++turn;
    }
    [[nodiscard]] bool must_wait(std::int64_t own_turn) const { return turn == own_turn && !over; }
};

}  // namespace peers
