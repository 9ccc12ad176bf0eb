// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the holds of a scenario in which servers replace each other. Replication is
// asynchronous, so two holds may overlap, and a token of an earlier epoch may follow a later one:
// but only around the replacement of a master. Within one epoch there is no excuse.
#pragma once

#include "../kernel/scheduler.hpp"

#include <redis/topology/epoch.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {

[[nodiscard]] constexpr std::uint64_t epoch_in(std::uint64_t token) noexcept {
    return token >> redis::epoch_shift;
}

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
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_in(token); }
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
    // A master of these locks was replaced. It may grant them until `note_demotion`. `epoch`: of
    // the new master, if all its tokens, and no other ones, have it.
    void note_promotion(std::vector<std::string> names, const void* old_master,
                        std::optional<std::uint64_t> epoch = std::nullopt);
    void note_demotion(const void* old_master);
    // The slot was at the node before, left it at that time, and a failover came in between: a
    // client that has not heard of the node since then uses the node's old epoch there
    // (docs/contributing/models.md, `slot_returns`).
    void note_return(const std::string& name, instant left_at) {
        returns_.push_back({name, left_at, loop_.now()});
    }
    // Two masters have the same epoch: one of them chose it without the votes of the others. Both
    // may issue the same tokens (docs/contributing/models.md, `takeover`).
    void note_shared_epoch(std::uint64_t epoch) { shared_epochs_.insert(epoch); }
    // The master of all locks has lost what its append-only file did not have.
    void note_power_loss() { power_losses_.push_back(loop_.now()); }
    [[nodiscard]] bool has_lost_power_since(instant when) const;
    // SIGSTOP: the program cannot learn of a loss.
    void note_pause(const void* program, instant from, instant until) {
        pauses_.push_back({program, from, until});
    }
    // Counts only the replacements of masters whose epoch is not below `lowest`.
    [[nodiscard]] bool is_replaced_near(const std::string& name, instant from, instant until,
                                        std::uint64_t lowest = 0) const;
    // Returns nothing; the first violation is in `violation`.
    void check();

    void fail(const std::string& sentence);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

private:
    struct replacement {
        std::vector<std::string> names;
        const void* old_master = nullptr;
        std::optional<std::uint64_t> epoch{};
        instant from{};
        std::optional<instant> until{};  // nothing: the old master still serves
    };
    struct pause {
        const void* program;
        instant from, until;
    };

    struct slot_return {
        std::string name;
        instant left_at, returned_at;
    };

    [[nodiscard]] bool may_have_old_epoch(const believed_hold& hold) const;
    void check_pair(const believed_hold& first, const believed_hold& second);
    [[nodiscard]] bool is_paused(const believed_hold& hold, instant when) const;

    const scheduler& loop_;
    instant longest_lease_{}, longest_delay_{};
    std::vector<std::unique_ptr<believed_hold>> holds_;
    std::vector<replacement> replacements_;
    std::vector<pause> pauses_;
    std::vector<slot_return> returns_;
    std::vector<instant> power_losses_;
    std::set<std::uint64_t> shared_epochs_;
    std::string violation_;
};

}  // namespace pawl::simulation
