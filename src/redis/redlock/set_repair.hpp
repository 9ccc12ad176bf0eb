// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How a node that has lost its data becomes a member again, and a member that the others know to be
// replaced. Every client may do this at any time: a nonce names each memory of a node, and nothing
// is installed under another nonce. docs/backends/redlock.md describes the rejoin; its models are
// models/redlock/amnesia.pml and replaced.pml.
#pragma once

#include "background.hpp"
#include "core/util/spi.hpp"
#include "genesis.hpp"
#include "member_requests.hpp"
#include "node_connections.hpp"
#include "node_table.hpp"
#include "node_timing.hpp"
#include "set_diagnosis.hpp"
#include "set_view.hpp"

#include "../../core/util/back_off.hpp"
#include "../../core/util/wakeup_list.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace pawl::redlock {

// The parts of a client that a repair uses. They must outlive it, and its operations.
struct repair_parts {
    node_table& nodes;
    const node_timing& timing;
    const node_connections& connections;
    member_requests& requests;
    genesis& beginning;
    repair_notes& notes;
    core::wakeup_list& changed;  // whatever the waiting requests depend on
};

// Used on one strand. Several clients may repair the same set at the same time.
class set_repair {
public:
    set_repair(const repair_parts& parts, duration quarantine, const core::pause_lengths& pauses,
               const backend_context& context, background& client)
        : parts_(parts),
          nodes_(parts.nodes),
          view_(parts.nodes),
          diagnosis_(parts.nodes, parts.notes),
          quarantine_(quarantine),
          context_(context),
          client_(client),
          pauses_(*context.time, pauses),
          memos_(parts.nodes.size()) {}

    // Unless a repair is under way, or one has ended lately.
    void start();
    // The next `start` does not wait for the end of a pause.
    void end_pause() noexcept { next_start_ = time_point::min(); }
    // Starts repairs until no node needs one, with growing pauses, if this client uses locks: a
    // node that has restarted must not depend on the next request.
    void repeat_without_requests();
    [[nodiscard]] bool is_running() const noexcept { return is_running_; }
    // A repair is under way, and all nodes that it asks answer.
    [[nodiscard]] bool ends_soon() const;
    // The client closes: no repair is repeated.
    void stop();
    // An operator has asked for the repair, and waits for it.
    void set_operator() noexcept { parts_.notes.may_begin_set = is_operator_ = true; }
    // Repairs the set as far as that is possible now. The standings of the nodes are known.
    boost::asio::awaitable<void> repair_once();

private:
    struct memo {
        std::string reconnected_for{};  // the outdated memory that led to a new connection
        time_point next_retirement = time_point::min();
    };
    using reports = member_requests::reports;

    // The operation ends by clearing the flag.
    void spawn_as(bool& is_active, boost::asio::awaitable<void> operation);
    boost::asio::awaitable<void> run();
    boost::asio::awaitable<void> repeat();
    // True: an outdated member has no membership any more.
    boost::asio::awaitable<bool> retire_outdated();
    [[nodiscard]] bool is_replaced_master(std::size_t node) const;
    boost::asio::awaitable<void> install_anew(std::size_t node, const reports& known);
    void log(std::size_t node, const std::string& text) const {
        if (context_.log) context_.log(nodes_.name_of(node) + ": " + text);
    }

    const repair_parts parts_;
    const node_table& nodes_;
    const set_view view_;
    const set_diagnosis diagnosis_;
    const duration quarantine_;  // above the longest lease, by any clock
    const backend_context& context_;
    background& client_;
    core::back_off pauses_;
    time_point next_start_ = time_point::min();
    bool is_running_ = false;
    bool is_repeating_ = false;
    bool is_operator_ = false;
    bool is_stopped_ = false;
    std::vector<memo> memos_;  // of each node
};

}  // namespace pawl::redlock
