// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the holds of a scenario in which servers replace each other. Replication is
// asynchronous, so two holds may overlap, and a token of an earlier epoch may follow a later one:
// but only around the replacement of a master. Within one epoch there is no excuse.
#pragma once

#include "../kernel/scheduler.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

// What a holder believes: from its grant until it released the lock, or was told of the loss.
struct believed_hold {
    std::string name;
    std::uint64_t token = 0;
    instant requested_at{}, granted_at{};
    std::optional<instant> ended_at{};
    const void* program = nullptr;
    // Since when the lock's server does not have the hold.
    std::optional<instant> missing_since{};
    // At the grant: the server that has the lock by the greatest epoch has this hold.
    bool is_of_present_master = false;
    [[nodiscard]] std::uint64_t epoch() const noexcept { return token >> 47; }
    [[nodiscard]] bool is_believed_at(instant when) const noexcept {
        return granted_at <= when && (!ended_at || *ended_at > when);
    }
};

class hold_checker {
public:
    explicit hold_checker(const scheduler& loop) : loop_(loop) {}

    // `longest_lease`: of any hold. `longest_delay`: between a grant, or a loss, and the moment at
    // which the program learns of it.
    void set_bounds(instant longest_lease, instant longest_delay) noexcept {
        longest_lease_ = longest_lease;
        longest_delay_ = longest_delay;
    }

    [[nodiscard]] believed_hold& add(believed_hold granted);
    void end(believed_hold& hold) const;
    [[nodiscard]] const std::vector<std::unique_ptr<believed_hold>>& all() const noexcept {
        return holds_;
    }
    // A master of these locks was replaced. It may grant them until `note_demotion`.
    void note_promotion(std::vector<std::string> names, const void* old_master);
    void note_demotion(const void* old_master);
    // SIGSTOP: the program cannot learn of a loss.
    void note_pause(const void* program, instant from, instant until) {
        pauses_.push_back({program, from, until});
    }
    [[nodiscard]] bool is_replaced_near(const std::string& name, instant from, instant until) const;
    // Returns nothing; the first violation is in `violation`.
    void check();

    void fail(const std::string& sentence);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

private:
    struct replacement {
        std::vector<std::string> names;
        const void* old_master = nullptr;
        instant from{};
        std::optional<instant> until{};  // nothing: the old master still serves
    };
    struct pause {
        const void* program;
        instant from, until;
    };

    void check_pair(const believed_hold& first, const believed_hold& second);
    [[nodiscard]] bool is_paused(const believed_hold& hold, instant when) const;

    const scheduler& loop_;
    instant longest_lease_{}, longest_delay_{};
    std::vector<std::unique_ptr<believed_hold>> holds_;
    std::vector<replacement> replacements_;
    std::vector<pause> pauses_;
    std::string violation_;
};

}  // namespace pawl::simulation
