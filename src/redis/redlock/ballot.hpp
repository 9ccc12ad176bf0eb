// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Decides from the nodes' answers whether one attempt has acquired its locks, and with which
// tokens. It sends nothing and reads no clock. models/redlock/tokens.pml has the rules and the
// counterexamples for each; docs/backends/redlock.md explains them.
#pragma once

#include "membership.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pawl::redlock {

// The smallest number of nodes such that any two groups of that size have a node in common.
[[nodiscard]] constexpr std::size_t majority_of(std::size_t nodes) noexcept {
    return nodes / 2 + 1;
}

class ballot {
public:
    // Every node is outstanding: it has been asked, and has not answered.
    explicit ballot(std::size_t nodes);

    // The node was not asked, or did not grant the locks.
    void count_refusal(std::size_t node) noexcept { votes_[node].state = vote_state::refused; }
    // A node that has refused is asked again: for the protocol, that is a slow answer.
    void ask_again(std::size_t node) noexcept { votes_[node].state = vote_state::outstanding; }
    // The node granted the locks with these counters, one for each name.
    void count_grant(std::size_t node, membership_state member, std::vector<std::int64_t> counters);
    // The node has raised its counters to the tokens.
    void count_confirmation(std::size_t node, membership_state member);
    // The node has lost the locks since it granted them.
    void count_loss(std::size_t node) noexcept { votes_[node].state = vote_state::refused; }

    // The largest counter of each name among the nodes that granted. `fix_tokens` ends their
    // growth: confirmations begin.
    [[nodiscard]] const std::vector<std::int64_t>& tokens() const noexcept { return tokens_; }
    void fix_tokens() noexcept { has_fixed_tokens_ = true; }
    [[nodiscard]] bool has_fixed_tokens() const noexcept { return has_fixed_tokens_; }

    // A majority agrees on the tokens.
    [[nodiscard]] bool is_won() const { return count_quorum() >= majority(); }
    // Too many nodes have refused.
    [[nodiscard]] bool is_lost() const noexcept;
    // A majority has granted the locks, but not with the same counters.
    [[nodiscard]] bool has_granted_majority() const noexcept;
    [[nodiscard]] bool is_outstanding(std::size_t node) const noexcept {
        return votes_[node].state == vote_state::outstanding;
    }
    // The node granted the locks, with its counters of then.
    [[nodiscard]] bool has_granted(std::size_t node) const noexcept {
        return votes_[node].state == vote_state::granted;
    }
    [[nodiscard]] const std::string& nonce(std::size_t node) const noexcept {
        return votes_[node].member.nonce;
    }
    [[nodiscard]] const std::vector<std::int64_t>& counters(std::size_t node) const noexcept {
        return votes_[node].counters;
    }
    // The node can be confirmed: it granted the locks, and no counter is above its token.
    [[nodiscard]] bool is_below_tokens(std::size_t node) const noexcept;
    // The node's counters are the tokens.
    [[nodiscard]] bool agrees(std::size_t node) const noexcept;
    // Nodes that agree, but another one that agrees has heard of a later incarnation of them: they
    // have forgotten what they granted before, and do not know it yet.
    [[nodiscard]] std::vector<std::size_t> outdated_nodes() const;

private:
    enum class vote_state : std::uint8_t { outstanding, refused, granted };
    struct vote {
        vote_state state = vote_state::outstanding;
        membership_state member;
        std::vector<std::int64_t> counters;
    };
    [[nodiscard]] std::size_t majority() const noexcept { return majority_of(votes_.size()); }
    [[nodiscard]] std::size_t count_quorum() const;
    [[nodiscard]] bool is_outdated(std::size_t node) const noexcept;

    std::vector<vote> votes_;
    std::vector<std::int64_t> tokens_;
    bool has_fixed_tokens_ = false;
};

}  // namespace pawl::redlock
