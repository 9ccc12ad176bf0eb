// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The set of a Redlock's nodes, for operators. Standard headers only.
#pragma once

#include <pawl/redlock.hpp>

#include <stop_token>
#include <vector>

namespace pawl::blocking {

// As redlock::administration, whose comments have the details: begins and examines a set of nodes.
// Thread-safe. Each call has connections of its own, and blocks until all nodes have answered, but
// for no request longer than `reply_timeout`.
//
// All calls throw errc::exhausted if the system has no threads or timers, and errc::cancelled when
// `cancel` is stopped; a cancelled change may have been carried out, also at some of the nodes
// only.
class redlock_administration {
public:
    // Does not connect. Throws errc::bad_option for options that do not fit together, and for
    // `fenced = false`, which has no set.
    explicit redlock_administration(const redlock::options& settings);

    // Makes the nodes a new set, which grants locks at once. Call this only while no holder of a
    // lock of these nodes is left. `forget`: also nodes of a set that has granted locks. Throws
    // errc::no_quorum or errc::unreachable if a node does not answer, and errc::no_set if a node's
    // clock differs from the others' by more than a minute. Without `forget`, throws
    // errc::bad_option if a node is a member of another set, or of one that has granted locks.
    void begin_set(bool forget = false, std::stop_token cancel = {}) const;
    // The status of each node, in the order of their names. Changes nothing. A node that does not
    // answer does not vote, and its `objection` says why.
    [[nodiscard]] std::vector<redlock::node_status> examine(std::stop_token cancel = {}) const;
    // As `examine`, but first lets nodes that have lost their data join the set again.
    std::vector<redlock::node_status> rejoin(std::stop_token cancel = {}) const;

private:
    service nodes_;
};

}  // namespace pawl::blocking
