// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Asks all nodes for locks at the same time. The rules that decide an attempt are in ballot.hpp.
//
// An attempt has no majority because nodes have refused it: a refusal names the holder, and the
// locks are taken if one holder has them at a majority. Otherwise attempts that were made at the
// same time have split the nodes. The first of them asks the refusing nodes again, and the others
// give back what they have. A refused request leaves nothing at its node, so a request that is
// repeated by the same attempt is, for the protocol, one that was slow.
#pragma once

#include "attempt.hpp"
#include "attempt_results.hpp"
#include "node_client.hpp"
#include "releases.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and the operations that it spawns.
class attempts {
public:
    // `id` is the client's.
    attempts(node_client& client, releases& undoing, std::string id)
        : client_(client),
          nodes_(client.nodes),
          timing_(client.timing),
          releases_(undoing),
          id_(std::move(id)) {}

    boost::asio::awaitable<attempt_result> try_all_nodes(std::vector<requested_lock> locks,
                                                         duration ttl, bool waits,
                                                         time_point ends_by,
                                                         const precedence& known);
    // Gives up the undecided attempts of this owner: its hold was ended by force.
    void abandon(std::string_view owner);

private:
    struct split_step {
        bool gives_up = false;
        bool is_split = false;
        time_point wait_until = time_point::max();
    };
    [[nodiscard]] time_point now() const noexcept { return nodes_.now(); }
    void send_to_node(const std::shared_ptr<attempt>& current, std::size_t node);
    boost::asio::awaitable<void> ask_for_locks(std::shared_ptr<attempt> current, std::size_t node);
    void handle_answer(const std::shared_ptr<attempt>& current, std::size_t node,
                       acquire_call::answer answer);
    // False: nothing is to be confirmed at this node. True: `confirm_at` must follow.
    [[nodiscard]] static bool begin_confirmation(attempt& current, std::size_t node);
    // Raises the node's counters to the tokens.
    boost::asio::awaitable<void> confirm_at(std::shared_ptr<attempt> current, std::size_t node);
    void start_confirmations(const std::shared_ptr<attempt>& current);
    boost::asio::awaitable<void> decide(std::shared_ptr<attempt> current, const precedence& known);
    // Gives up if another holder has the locks, or comes before this attempt.
    [[nodiscard]] split_step next_step_of_split(const std::shared_ptr<attempt>& current,
                                                const precedence& known);
    time_point ask_again(const std::shared_ptr<attempt>& current);
    boost::asio::awaitable<void> wait_for_reasons(std::shared_ptr<attempt> current);
    [[nodiscard]] bool has_all_answers(const attempt& current) const;

    node_client& client_;
    const node_table& nodes_;
    node_timing& timing_;
    releases& releases_;
    const std::string id_;
    std::list<attempt*> undecided_;
};

}  // namespace pawl::redlock
