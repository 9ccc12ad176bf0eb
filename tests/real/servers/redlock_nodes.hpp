// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the nodes of Redlock say of themselves, and how they become a set.
#pragma once

#include "pace.hpp"
#include "state_watch.hpp"

#include <support/redis_server.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace real {

struct membership {
    std::string run_id;
    std::string nonce;
    std::uint64_t incarnation = 0;
    bool is_member = false;          // since this start of the server
    std::vector<std::string> marks;  // "INCARNATION:NONCE" of each node, as far as this one knows
};

// For state_watch. In the history, a node's memory is a replication, and its incarnation the epoch.
[[nodiscard]] const std::vector<support::command_words>& look_at_node();
[[nodiscard]] std::optional<server_state> read_node(const look_replies& replies);

[[nodiscard]] membership ask_for_membership(support::redis_server& node);
// All are members, and none has heard of a later memory of another one.
[[nodiscard]] bool is_whole_set(const std::vector<membership>& nodes);

// For `environment::logs`: what the node says of its membership, if it runs.
[[nodiscard]] std::string text_of_membership(support::redis_server& node);

// As an operator does it on this machine: again, if a node was away. `how`: "force", or another
// word.
void begin_set_from(const support::machine& machine, const std::string& url, const std::string& how,
                    pace& pace);
// Waits until all are a set again.
void wait_for_members(const std::vector<support::redis_server*>& nodes, pace& pace);

// The helper process for that, on a client's machine: this program cannot reach the servers'
// addresses. `pawl redlock init`, with --force if `force` is "force". Returns the exit status.
int begin_set(const std::string& url, const std::string& force);

}  // namespace real
