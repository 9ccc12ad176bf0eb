// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Genesis: nodes that know no set become one. docs/backends/redlock.md describes it, and
// models/redlock/genesis.pml has the rules.
#pragma once

#include "background.hpp"
#include "core/util/spi.hpp"
#include "member_requests.hpp"
#include "node_table.hpp"
#include "set_diagnosis.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <string>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and its operations.
class genesis {
public:
    genesis(const node_table& nodes, member_requests& requests, repair_notes& notes,
            duration quarantine, const backend_context& context, background& client)
        : nodes_(nodes),
          requests_(requests),
          notes_(notes),
          view_(nodes),
          diagnosis_(nodes, notes),
          quarantine_(quarantine),
          context_(context),
          client_(client) {}

    // As `members::begin_set`, when the standings of the nodes are known.
    boost::asio::awaitable<void> begin_by_operator(bool forget_members);
    // Of nodes that have given these reports. The notes may say why no set was begun.
    boost::asio::awaitable<void> begin(member_requests::reports first, duration quarantine);
    // A set began, and not all nodes learned it. The notes say why not, if no node does now.
    boost::asio::awaitable<void> finish(const member_requests::reports& known);

private:
    using clocks = member_requests::clocks;
    using reports = member_requests::reports;
    boost::asio::awaitable<void> end_first_quarantine(const reports& known);
    // After an operator's word: all nodes are members now.
    boost::asio::awaitable<void> require_complete_set();
    void require_all(const reports& answers) const;
    void require_all_clocks(const clocks& known) const;
    [[nodiscard]] std::string objection_to_clocks(const clocks& known) const;
    [[nodiscard]] error membership_error(std::size_t node, const member_report& report) const;
    [[nodiscard]] error no_set_begun() const;

    const node_table& nodes_;
    member_requests& requests_;
    repair_notes& notes_;
    const set_view view_;
    const set_diagnosis diagnosis_;
    const duration quarantine_;
    const backend_context& context_;
    background& client_;
};

}  // namespace pawl::redlock
