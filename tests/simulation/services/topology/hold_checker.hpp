// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for the holds of a scenario in which servers replace each other. Replication is
// asynchronous, so two holds may overlap, and a token of an earlier epoch may follow a later one:
// but only around the replacement of a master. Within one epoch there is no excuse.
#pragma once

#include "../../world/beliefs.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {

class hold_checker final : public beliefs {
public:
    using beliefs::beliefs;

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
    // Counts only the replacements of masters whose epoch is not below `lowest`.
    [[nodiscard]] bool is_replaced_near(const std::string& name, instant from, instant until,
                                        std::uint64_t lowest = 0) const;
    void check() override;

private:
    struct replacement {
        std::vector<std::string> names;
        const void* old_master = nullptr;
        std::optional<std::uint64_t> epoch{};
        instant from{};
        std::optional<instant> until{};  // nothing: the old master still serves
    };
    struct slot_return {
        std::string name;
        instant left_at, returned_at;
    };

    [[nodiscard]] bool may_have_old_epoch(const believed_hold& hold) const;
    void check_pair(const believed_hold& first, const believed_hold& second);

    std::vector<replacement> replacements_;
    std::vector<slot_return> returns_;
    std::vector<instant> power_losses_;
    std::set<std::uint64_t> shared_epochs_;
};

}  // namespace pawl::simulation
