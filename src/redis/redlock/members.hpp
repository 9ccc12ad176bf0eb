// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes of a set: which of them may vote, and how a node that has forgotten its data becomes a
// member again. docs/backends/redlock.md describes genesis and rejoin.
#pragma once

#include "background.hpp"
#include "core/util/spi.hpp"
#include "genesis.hpp"
#include "member_requests.hpp"
#include "node_clocks.hpp"
#include "node_connections.hpp"
#include "node_table.hpp"
#include "node_timing.hpp"
#include "set_diagnosis.hpp"
#include "set_repair.hpp"
#include "set_view.hpp"

#include "../common/limits.hpp"
#include "../transport/link.hpp"

#include "../../core/util/wakeup_list.hpp"

#include <pawl/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and the operations that it spawns.
class members {
public:
    // `names` are those of the nodes in messages.
    members(const std::vector<redis::link*>& nodes, std::vector<std::string> names,
            const set_parameters& set, duration longest_ttl, duration reply_timeout,
            const backend_context& context, const redis::limits& bounds, background& client);

    [[nodiscard]] const node_table& nodes() const noexcept { return nodes_; }
    [[nodiscard]] node_timing& timing() noexcept { return timing_; }
    [[nodiscard]] const node_timing& timing() const noexcept { return timing_; }
    [[nodiscard]] node_clocks& clocks() noexcept { return clocks_; }
    [[nodiscard]] const node_clocks& clocks() const noexcept { return clocks_; }
    [[nodiscard]] const set_view& view() const noexcept { return view_; }
    [[nodiscard]] const set_diagnosis& diagnosis() const noexcept { return diagnosis_; }
    [[nodiscard]] set_repair& repair() noexcept { return repair_; }

    // Connects, repairs the set where that is possible, and waits until a majority may vote. Why
    // none can at present, with errc::no_quorum or, if waiting does not help, the reason of the
    // nodes; nothing if a majority can vote.
    boost::asio::awaitable<std::optional<error>> wait_for_majority(time_point give_up_at);
    // Changes nothing at the nodes: connects, and waits until a majority has told its standing, and
    // one of these nodes is a member.
    boost::asio::awaitable<std::optional<error>> wait_for_readable(time_point give_up_at);

    // A node has refused to vote.
    void on_objection(std::size_t node, const standing_reply& refusal);
    // A node has heard of a later memory of another one.
    void on_outdated() { repair_.start(); }
    // Without fencing there is no membership: a node votes as soon as it is connected.
    void on_connected(const redis::link& node_link);
    void on_disconnected(const redis::link& node_link) noexcept;

    // Makes a new set, without a quarantine, of nodes that have forgotten everything, or never knew
    // anything: holds that such nodes have granted before may overlap with new ones. A set that has
    // granted nothing yet stays, and its quarantine ends. Throws errc::no_quorum if a node does not
    // answer, and errc::bad_option if one is a member, unless `forget_members`.
    boost::asio::awaitable<void> begin_set(bool forget_members);
    // Repairs the set as far as that is possible now.
    boost::asio::awaitable<void> repair_now();
    // Tries once to connect to every node. Changes nothing.
    boost::asio::awaitable<void> learn_standings();

private:
    [[nodiscard]] bool is_settled() const {
        return !repair_.is_running() && connections_.is_complete();
    }
    // A connected node that does not vote may do so by now: an operator may have mended it.
    void ask_again(std::size_t node);
    boost::asio::awaitable<void> learn_standing(std::size_t node);
    // Returns when `is_ready`, after a moment for the other nodes, or when nothing more is known to
    // come. `may_repair` starts a repair of nodes that need one.
    boost::asio::awaitable<bool> wait_until_ready(time_point give_up_at,
                                                  bool (set_view::*is_ready)() const,
                                                  bool may_repair);

    const duration reply_timeout_;
    background& client_;
    core::wakeup_list changed_;
    node_table nodes_;
    node_timing timing_;
    node_clocks clocks_;
    const set_view view_;
    repair_notes notes_;
    const set_diagnosis diagnosis_;
    node_connections connections_;
    member_requests requests_;
    genesis genesis_;
    set_repair repair_;
    std::vector<time_point> asked_at_;  // of each node: for its standing
};

}  // namespace pawl::redlock
