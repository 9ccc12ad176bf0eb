// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes of a set: which of them may vote, and how a node that has forgotten its data becomes a
// member again. docs/backends/redlock.md describes genesis and rejoin; their models are
// models/redlock/genesis.pml, amnesia.pml and replaced.pml. The members are in members.cpp,
// objections.cpp, genesis.cpp and repair.cpp.
#pragma once

#include "member_calls.hpp"

#include "../common/limits.hpp"
#include "../scripting/known_scripts.hpp"
#include "../transport/link.hpp"

#include "../../core/util/wakeup_list.hpp"

#include <pawl/error.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

inline constexpr std::string_view lost_set =
    "a majority of the nodes has lost its data at the same time, so nobody knows the highest token "
    "any more; when no holder of a lock is left, run pawl redlock init --force";
inline constexpr std::string_view few_members =
    "nodes that have lost their data can join when a majority of the other nodes answers";
inline constexpr std::string_view no_set =
    "the nodes form no set yet; when no holder of a lock of these nodes is left, run pawl redlock "
    "init, or request a lock and wait for a little more than ttl_max";
inline constexpr std::string_view perhaps_new =
    "if the nodes are new, and no holder of a lock of them is left, pawl redlock init makes them a "
    "set";
inline constexpr std::string_view new_set =
    "the set is new; if no holder of a lock of these nodes is left, pawl redlock init ends the "
    "wait";

// What the nodes need of their client.
class background {
public:
    virtual ~background() = default;
    // Runs the operation; closing the client waits for its end.
    virtual void spawn(boost::asio::awaitable<void> operation) = 0;
    // Runs the operations at the same time, and ends with the last of them.
    virtual boost::asio::awaitable<void> join(
        std::vector<boost::asio::awaitable<void>> operations) = 0;
    // False: the client closes.
    virtual boost::asio::awaitable<bool> pause_until(time_point when) = 0;
};

// Used on one strand. Several clients may repair the same set at the same time.
class members {
public:
    // `names` are those of the nodes in messages.
    members(std::vector<redis::link*> nodes, std::vector<std::string> names,
            const set_parameters& set, duration longest_ttl, duration reply_timeout,
            const backend_context& context, const redis::limits& bounds, background& client);

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] redis::link& link_of(std::size_t node) const noexcept {
        return *nodes_[node].server;
    }
    [[nodiscard]] const std::string& name_of(std::size_t node) const noexcept {
        return nodes_[node].name;
    }
    // Of all nodes, in their order.
    [[nodiscard]] std::vector<std::string> names() const;
    [[nodiscard]] std::size_t majority() const noexcept { return majority_of(size()); }

    // The node is connected, and nothing is known that keeps it from voting.
    [[nodiscard]] bool may_vote(std::size_t node) const;
    // Why the node does not vote, for messages.
    [[nodiscard]] std::string objection_of(std::size_t node) const;
    // The same as a code: errc::other_set, or errc::no_quorum.
    [[nodiscard]] errc reason_of(std::size_t node) const noexcept;
    // "HOST:PORT: REASON; …" for all nodes that do not vote.
    [[nodiscard]] std::string objections() const;

    // A node that has not answered in time is not waited for until it answers again.
    [[nodiscard]] bool is_silent(std::size_t node) const noexcept {
        return nodes_[node].silent_from <= now();
    }
    // A request to the node is in time until then.
    void expect_answer(std::size_t node, time_point silent_from) noexcept {
        auto& known = nodes_[node].silent_from;
        known = std::min(known, silent_from);
    }
    void on_answer(std::size_t node) noexcept { nodes_[node].silent_from = time_point::max(); }
    // When the next node falls silent.
    [[nodiscard]] time_point next_silence() const noexcept;
    // So many nodes are connected and not silent that they are a majority.
    [[nodiscard]] bool has_answering_majority() const noexcept;

    // The node has answered after this time.
    void note_round_trip(std::size_t node, duration round_trip) noexcept;
    // After which a majority of the nodes usually answers; 0: not known.
    [[nodiscard]] duration round_trip_of_majority() const;

    // Connects, repairs the set where that is possible, and waits until a majority may vote. Why
    // none can at present, with errc::no_quorum or, if waiting does not help, the reason of the
    // nodes; nothing if a majority can vote.
    boost::asio::awaitable<std::optional<error>> wait_for_majority(time_point give_up_at);
    // Changes nothing at the nodes: connects, and waits until a majority has told its standing, and
    // one of these nodes is a member.
    boost::asio::awaitable<std::optional<error>> wait_for_readable(time_point give_up_at);
    // How many nodes show a hold that may have a majority. Nodes that do not vote may have lost it.
    [[nodiscard]] std::size_t least_views() const;
    // Until when the quarantines last that keep a majority from voting; nothing if it is not them.
    [[nodiscard]] std::optional<time_point> quarantine_end() const;

    // A node has refused to vote.
    void on_objection(std::size_t node, const standing_reply& refusal);
    // The node's clock showed this time after `sent_at`.
    void note_clock(std::size_t node, std::chrono::microseconds shown, time_point sent_at) noexcept;
    // What the node's clock shows at that time of the client's, since 1970, or a little more,
    // although the clocks may differ by 1 in 1000 in speed; never a millisecond less. Empty: not
    // known.
    [[nodiscard]] std::optional<std::chrono::microseconds> clock_of(std::size_t node,
                                                                    time_point when) const noexcept;
    // The smallest counter of a new hold: what the nodes' clocks say. Data of earlier times have
    // smaller ones. The clocks of a minority cannot raise it.
    [[nodiscard]] std::int64_t token_floor() const;
    // By how much the highest token that the node knows is above the nodes' clocks, which are then
    // no floor; 0: not, or not known. Differences that a new set may have do not count.
    [[nodiscard]] std::chrono::seconds tokens_ahead(std::size_t node) const;

    // A repair is under way, and all nodes that it asks answer.
    [[nodiscard]] bool repairs_soon() const;
    // The client closes: no repair is repeated.
    void stop();

    // A node has heard of a later memory of another one.
    void on_outdated() { start_repair(); }
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
    // Why the nodes without a membership do not join, and what to do: what the last repair found,
    // or what the standings show. Empty if nothing keeps them from joining.
    [[nodiscard]] std::string trouble_of_set() const;
    // The nodes that have lost their data cannot join, because too few members are left.
    [[nodiscard]] bool is_lost() const;
    // The node has no membership.
    [[nodiscard]] bool is_forgetful(std::size_t node) const noexcept {
        return nodes_[node].state == standing::forgetful;
    }
    // Tries once to connect to every node. Changes nothing.
    boost::asio::awaitable<void> learn_standings();
    // What the node said of its membership last.
    [[nodiscard]] const membership_state& state_of(std::size_t node) const noexcept {
        return nodes_[node].member;
    }

private:
    enum class standing : std::uint8_t {
        unknown,     // not connected, or not asked yet
        member,      // votes, perhaps after a quarantine
        outdated,    // a member, but another member has heard of a later memory of the node
        forgetful,   // has no membership
        other_set,   // a member of another set
        unsuitable,  // must not be in a set: `trouble` says why
    };
    struct clock_reading {
        std::chrono::microseconds shown{};
        time_point sent_at{};
    };
    struct node_record {
        redis::link* server = nullptr;
        std::string name;
        standing state = standing::unknown;
        std::optional<clock_reading> clock{};
        time_point quarantine_ends{};
        membership_state member{};
        std::int64_t highest = 0;                 // the highest token that it knows
        std::string other_nodes{};                // of another set that it belongs to, as a URL
        std::string trouble{};                    // why the last request or connection failed
        errc trouble_reason = errc::unreachable;  // of a failed connection
        bool is_second_name = false;              // of another node's server
        bool is_connecting = false;
        bool has_used_grace = false;  // a request has waited for its connection or standing
        time_point silent_from = time_point::max();
        duration round_trip{};                    // smoothed; 0: not known
        time_point asked_at = time_point::min();  // for its standing
        std::string reconnected_for{};  // the outdated memory that led to a new connection
        time_point next_retirement = time_point::min();

        // It has lost its data, or must join anew.
        [[nodiscard]] bool needs_repair() const noexcept {
            return server->connected() &&
                   (state == standing::forgetful || state == standing::outdated);
        }
        [[nodiscard]] bool is_forgetful() const noexcept {
            return server->connected() && state == standing::forgetful;
        }
        [[nodiscard]] bool is_member() const noexcept {
            return server->connected() && state == standing::member;
        }
    };

    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    [[nodiscard]] std::size_t index_of(const redis::link& node_link) const noexcept;
    [[nodiscard]] std::size_t count_voters() const;
    [[nodiscard]] bool has_voters() const {
        return count_voters() >= majority() && !has_server_twice();
    }
    [[nodiscard]] bool has_server_twice() const;
    // So many nodes do not vote for a reason that lasts that no majority is left.
    [[nodiscard]] std::optional<errc> lasting_reason() const;
    // The nodes have begun a set that has granted nothing yet: all of them are in their first
    // quarantine.
    [[nodiscard]] bool is_new_set() const;
    // All nodes have answered, and too few of them are members.
    [[nodiscard]] bool forms_no_set() const;
    [[nodiscard]] bool may_be_new() const;
    // What the last repair found, if that still holds.
    [[nodiscard]] std::string repair_trouble() const;
    [[nodiscard]] error no_majority() const;
    [[nodiscard]] static bool is_awaited(const node_record& each);
    // Every node has answered or failed.
    [[nodiscard]] bool is_connected() const;
    [[nodiscard]] bool may_soon_be_ready() const;
    [[nodiscard]] bool is_settled() const { return !is_repairing_ && is_connected(); }
    void connect(std::size_t node);
    boost::asio::awaitable<void> make_connection(std::size_t node);
    boost::asio::awaitable<void> learn_standing(std::size_t node);
    // A connected node that does not vote may do so by now: an operator may have mended it.
    void ask_again(std::size_t node);
    void adopt(std::size_t node, const member_report& report);
    // Finds out which members are outdated.
    void judge_members();
    [[nodiscard]] std::string objection_to_server(std::size_t node) const;
    [[nodiscard]] std::optional<std::size_t> node_with_same_server(std::size_t node) const;
    void log(std::size_t node, const std::string& text) const {
        if (context_.log) context_.log(name_of(node) + ": " + text);
    }
    [[nodiscard]] std::size_t count_members() const;
    [[nodiscard]] bool can_be_read() const;
    // Returns when `is_ready`, after a moment for the other nodes, or when nothing more is known to
    // come. `may_repair` starts a repair of nodes that need one.
    boost::asio::awaitable<bool> wait_until_ready(time_point give_up_at,
                                                  bool (members::*is_ready)() const,
                                                  bool may_repair);

    // Unless a repair is under way, or one has ended lately.
    void start_repair();
    // The operation ends by clearing the flag.
    void spawn_as(bool& is_running, boost::asio::awaitable<void> operation);
    boost::asio::awaitable<void> repair();
    // Starts repairs until no node needs one, with growing pauses, if this client uses locks: a
    // node that has restarted must not depend on the next request.
    void repair_without_requests();
    boost::asio::awaitable<void> repeat_repairs();
    boost::asio::awaitable<void> repair_once();
    using reports = std::vector<std::optional<member_report>>;
    // Asks all connected nodes, which may begin a new membership.
    boost::asio::awaitable<reports> prepare_all();
    boost::asio::awaitable<void> prepare_one(std::size_t node, reports& into);
    boost::asio::awaitable<void> ask_standing(std::size_t node, reports& into);
    [[nodiscard]] bool is_member(const std::optional<member_report>& report) const;
    [[nodiscard]] std::string new_nonce(std::size_t node);
    // Ends the membership of the memory with the nonce `only`, or of any. False: it was another.
    boost::asio::awaitable<bool> forget(std::size_t node, std::string only);
    boost::asio::awaitable<void> leave_server(std::size_t node);
    // True: an outdated member has no membership any more.
    boost::asio::awaitable<bool> retire_outdated();
    [[nodiscard]] std::uint64_t latest_epoch(std::size_t node) const;
    [[nodiscard]] bool is_replaced_master(std::size_t node) const;
    boost::asio::awaitable<void> end_first_quarantine(const reports& known);
    // After an operator's word: all nodes are members now.
    boost::asio::awaitable<void> require_complete_set();
    void require_all(const reports& answers) const;
    [[nodiscard]] error membership_error(std::size_t node, const member_report& report) const;
    // Otherwise `repair_trouble_` may say why not.
    boost::asio::awaitable<void> begin_set_of(reports first, duration quarantine);
    // Of each node, what its clock shows when this client's clock is 0.
    using clocks = std::vector<std::optional<std::chrono::microseconds>>;
    boost::asio::awaitable<void> read_clock(std::size_t node, clocks& into);
    boost::asio::awaitable<clocks> read_clocks();
    [[nodiscard]] std::string objection_to_clocks(const clocks& known) const;
    void require_all_clocks(const clocks& known) const;
    [[nodiscard]] error no_set_begun() const;
    boost::asio::awaitable<void> finish_genesis(const reports& known);
    boost::asio::awaitable<std::vector<std::optional<mark_call::answer>>> mark_at_others(
        std::size_t node, std::string nonce, std::int64_t incarnation);
    boost::asio::awaitable<void> mark_at(std::size_t node, const mark_call& call,
                                         std::optional<mark_call::answer>& into);
    boost::asio::awaitable<void> install_anew(std::size_t node, const reports& known);
    boost::asio::awaitable<bool> install(std::size_t node, install_call call);
    boost::asio::awaitable<void> install_if_new(std::size_t node, install_call call, bool& into);

    std::vector<node_record> nodes_;
    const set_parameters& set_;
    const duration quarantine_;  // above the longest lease, by any clock
    const duration reply_timeout_;
    const backend_context& context_;
    const redis::limits& bounds_;
    background& client_;
    core::back_off repair_pauses_;
    redis::known_scripts known_scripts_;
    core::wakeup_list changed_;
    time_point next_repair_ = time_point::min();
    bool is_repairing_ = false;
    bool may_begin_set_ = false;  // a lock was requested, or an operator has said so
    bool is_operator_ = false;    // an operator has asked for the repair, and waits for it
    bool repeats_repairs_ = false;
    bool is_stopped_ = false;
    std::string repair_trouble_;
};

}  // namespace pawl::redlock
