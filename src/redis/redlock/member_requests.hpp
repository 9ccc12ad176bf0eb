// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Sends the nodes the requests about their memberships.
#pragma once

#include "background.hpp"
#include "core/util/spi.hpp"
#include "member_calls.hpp"
#include "node_table.hpp"
#include "node_timing.hpp"

#include "../scripting/known_scripts.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and the requests. A request that fails leaves
// its error as the node's trouble, unless it says that it throws.
class member_requests {
public:
    member_requests(node_table& nodes, node_timing& timing, duration reply_timeout,
                    const backend_context& context, background& client)
        : nodes_(nodes),
          timing_(timing),
          reply_timeout_(reply_timeout),
          context_(context),
          client_(client) {}

    using reports = std::vector<std::optional<member_report>>;
    // Of each node, what its clock shows when this client's clock is 0.
    using clocks = std::vector<std::optional<std::chrono::microseconds>>;
    using mark_answers = std::vector<std::optional<mark_call::answer>>;

    boost::asio::awaitable<void> ask_standing(std::size_t node, reports& into);
    // Asks all connected nodes, which may begin a new membership.
    boost::asio::awaitable<reports> prepare_all();
    boost::asio::awaitable<clocks> read_clocks();
    // Writes the node's memory mark at the others, and collects their answers.
    boost::asio::awaitable<mark_answers> mark_at_others(std::size_t node, std::string nonce,
                                                        std::int64_t incarnation);
    boost::asio::awaitable<bool> install(std::size_t node, install_call call);
    // Sets `into` if the membership was installed.
    boost::asio::awaitable<void> install_if_new(std::size_t node, install_call call, bool& into);
    // Ends the membership of the memory with the nonce `only`, or of any. False: it was another.
    // Throws.
    boost::asio::awaitable<bool> forget(std::size_t node, std::string only);
    // Throws.
    boost::asio::awaitable<void> end_quarantine(std::size_t node, const std::string& nonce);
    // The server ends the connection, and the link looks for the node's server anew.
    boost::asio::awaitable<void> leave_server(std::size_t node);

private:
    [[nodiscard]] time_point reply_deadline() const { return nodes_.now() + reply_timeout_; }
    [[nodiscard]] std::string new_nonce(std::size_t node);
    boost::asio::awaitable<void> prepare_one(std::size_t node, reports& into);
    boost::asio::awaitable<void> read_clock(std::size_t node, clocks& into);
    boost::asio::awaitable<void> mark_at(std::size_t node, const mark_call& call,
                                         std::optional<mark_call::answer>& into);

    node_table& nodes_;
    node_timing& timing_;
    const duration reply_timeout_;
    const backend_context& context_;
    background& client_;
    redis::known_scripts known_scripts_;
};

}  // namespace pawl::redlock
