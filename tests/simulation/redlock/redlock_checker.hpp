// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the holds of a scenario with Redlock. Tokens are distinct and in the order of time
// without any excuse but one: a set that has lost all of its memory counts from the clocks. Holds
// overlap only if a node has lost a lock too early, by its clock or an eviction, or if an operator
// has interfered.
#pragma once

#include "../kernel/scheduler.hpp"

#include <pawl/types.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

// What a holder believes: from its grant until it released the lock, or was told of the loss.
struct quorum_hold {
    std::string name;
    std::uint64_t token = 0;
    instant requested_at{}, granted_at{};
    std::optional<instant> ended_at{};
    const void* program = nullptr;
    std::string label;  // of the program
    // A reader: from its grant on. A writer: from the request for a downgrade on.
    std::optional<instant> shared_since{};
    [[nodiscard]] bool is_reader() const noexcept { return shared_since == granted_at; }
    [[nodiscard]] bool is_shared_at(instant when) const noexcept {
        return shared_since && *shared_since <= when;
    }
    // Since when fewer than a majority of the nodes have it.
    std::optional<instant> missing_since{};
    [[nodiscard]] bool is_believed_at(instant when) const noexcept {
        return granted_at <= when && (!ended_at || *ended_at > when);
    }
};

class redlock_checker {
public:
    static constexpr auto any_token = std::numeric_limits<std::uint64_t>::max();

    explicit redlock_checker(const scheduler& loop) : loop_(loop) {}
    // The longest lease that a client may have.
    void set_longest_lease(instant longest) noexcept { longest_lease_ = longest; }

    [[nodiscard]] quorum_hold& add(quorum_hold granted);
    void end(quorum_hold& hold) const;
    [[nodiscard]] const std::vector<std::unique_ptr<quorum_hold>>& all() const noexcept {
        return holds_;
    }
    // SIGSTOP: the program cannot learn of a loss.
    void note_pause(const void* program, instant from, instant until) {
        pauses_.push_back({program, from, until});
    }
    // A node has lost the lock too early, or votes too early. Empty: all locks.
    void note_weak_node(const std::string& name) { weaknesses_.push_back({name, loop_.now()}); }
    // From then on an operator takes the lock from its holder. Empty: from all, for a new set.
    // With an expected token, only from a hold with that token or an earlier one.
    void note_interference(const std::string& name, std::uint64_t expected = any_token);
    void end_interference(const std::string& name);
    // A set whose nodes have forgotten everything counts from the clocks, which may be wrong.
    void note_wrong_seed() { wrong_seeds_.push_back(loop_.now()); }
    // The operator's command has succeeded: no hold from before it goes on, up to this token.
    void note_forced_release(const std::string& name, instant began_at,
                             std::uint64_t expected = any_token) {
        forced_.push_back({name, began_at, loop_.now(), expected});
    }
    // A release has reported `released`, or `unknown` although all nodes have answered.
    void note_release(const quorum_hold& hold, instant asked_at, release_result result) {
        releases_.push_back({&hold, asked_at, result});
    }
    // An operator may have taken the lock from a hold with this token.
    [[nodiscard]] bool is_forced_near(const std::string& name, instant from,
                                      std::uint64_t token = 0) const;
    [[nodiscard]] bool was_paused(const void* program, instant from) const;

    void check();
    void fail(const std::string& sentence);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

private:
    struct pause {
        const void* program;
        instant from, until;
    };
    struct weakness {
        std::string name;
        instant at;
    };
    struct interference {
        std::string name;
        std::uint64_t expected;
        instant from;
        std::optional<instant> until{};
    };
    struct forced_release {
        std::string name;
        instant from, until;
        std::uint64_t expected;
    };
    struct reported_release {
        const quorum_hold* hold;
        instant asked_at;
        release_result result;
    };
    void check_release(const reported_release& release);
    [[nodiscard]] bool is_paused(const quorum_hold& hold, instant when) const;
    [[nodiscard]] bool is_excused(const quorum_hold& first, const quorum_hold& second) const;
    void check_pair(const quorum_hold& first, const quorum_hold& second);
    void check_overtaken(const quorum_hold& first, const quorum_hold& second);
    void check_forced(const quorum_hold& hold, const forced_release& by);

    const scheduler& loop_;
    instant longest_lease_{};
    std::vector<std::unique_ptr<quorum_hold>> holds_;
    std::vector<pause> pauses_;
    std::vector<weakness> weaknesses_;
    std::vector<interference> interferences_;
    std::vector<forced_release> forced_;
    std::vector<reported_release> releases_;
    std::vector<instant> wrong_seeds_;
    std::string violation_;
};

}  // namespace pawl::simulation
