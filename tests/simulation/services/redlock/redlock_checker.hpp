// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the holds of a scenario with Redlock. Tokens are distinct and in the order of time
// without any excuse but one: a set that has lost all of its memory counts from the clocks. Holds
// overlap only if a node has lost a lock too early, by its clock or an eviction, or if an operator
// has interfered.
#pragma once

#include "../../world/beliefs.hpp"

#include <pawl/types.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

class redlock_checker final : public beliefs {
public:
    static constexpr auto any_token = std::numeric_limits<std::uint64_t>::max();

    using beliefs::beliefs;

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
    void note_release(const believed_hold& hold, instant asked_at, release_result result) {
        releases_.push_back({&hold, asked_at, result});
    }
    // An operator may have taken the lock from a hold with this token.
    [[nodiscard]] bool is_forced_near(const std::string& name, instant from,
                                      std::uint64_t token = 0) const;
    void check() override;

private:
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
        const believed_hold* hold;
        instant asked_at;
        release_result result;
    };
    void check_release(const reported_release& release);
    [[nodiscard]] bool is_excused(const believed_hold& first, const believed_hold& second) const;
    void check_pair(const believed_hold& first, const believed_hold& second);
    void check_overtaken(const believed_hold& first, const believed_hold& second);
    void check_forced(const believed_hold& hold, const forced_release& by);

    std::vector<weakness> weaknesses_;
    std::vector<interference> interferences_;
    std::vector<forced_release> forced_;
    std::vector<reported_release> releases_;
    std::vector<instant> wrong_seeds_;
};

}  // namespace pawl::simulation
