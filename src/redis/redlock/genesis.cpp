// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "genesis.hpp"

#include "genesis_record.hpp"

#include "../common/waits.hpp"
#include "../transport/numbers.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::redlock {

// The seed of the tokens is above all clocks. If one of them is far ahead, the others cannot be a
// floor for a long time: models/redlock/rolled_back.pml, fast_clock.
std::string genesis::objection_to_clocks(const clocks& known) const {
    std::vector<std::chrono::microseconds> shown;
    for (const auto& each : known) {
        if (!each) return {};  // no set begins without that node
        shown.push_back(*each);
    }
    const auto furthest = furthest_clock(shown);
    if (std::chrono::abs(furthest.ahead) <= most_clock_difference) return {};
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::abs(furthest.ahead));
    return "the clock of " + nodes_.name_of(furthest.node) + " is " +
           std::to_string(seconds.count()) + " s " +
           (furthest.ahead.count() > 0 ? "ahead of" : "behind") +
           " the clocks of the other nodes, and a set begins only when they differ by less than a "
           "minute; set it right, and try again";
}

// All nodes must have forgotten everything at one time: between the two times that each was asked.
// Only after that may the clocks be read, so that the first token is above all that the nodes have
// granted before they forgot, while a clock is right.
asio::awaitable<void> genesis::begin(reports first, duration quarantine) {
    const auto second = co_await requests_.prepare_all();
    genesis_record record;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!first[i] || !second[i] || first[i]->is_member || second[i]->is_member ||
            first[i]->member.nonce != second[i]->member.nonce)
            co_return;  // another client's repair is under way, or a node is away again
        record.nonces.push_back(second[i]->member.nonce);
        // The clocks may have been set back since.
        if (second[i]->highest < absurd_token)
            record.seed = std::max(record.seed, second[i]->highest);
    }
    const auto shown = co_await requests_.read_clocks();
    if (!std::ranges::all_of(shown, &clocks::value_type::has_value)) co_return;
    notes_.trouble = objection_to_clocks(shown);
    if (!notes_.trouble.empty()) co_return;
    const auto at =
        std::chrono::duration_cast<std::chrono::microseconds>(nodes_.now().time_since_epoch());
    for (const auto& each : shown)
        record.seed = std::max(record.seed, token_of_clock((*each + at).count()));
    std::vector<asio::awaitable<void>> installations;
    bool is_installed = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        installations.push_back(requests_.install_if_new(
            i, first_membership(nodes_.set(), record, i, quarantine), is_installed));
    co_await client_.join(std::move(installations));
    if (context_.log)
        context_.log("the nodes knew no set, and form a new one; it grants its first lock in " +
                     redis::milliseconds_text(quarantine) + " ms");
}

// A set began, and not all nodes learned it. A node whose nonce is still the one of then has never
// been a member.
asio::awaitable<void> genesis::finish(const reports& known) {
    std::vector<asio::awaitable<void>> installations;
    bool has_finished = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_.is_member(known[i])) continue;
        const auto record = parse_genesis(known[i]->genesis);
        if (record.nonces.size() != nodes_.size() || record.seed >= absurd_token) continue;
        for (std::size_t j = 0; j < nodes_.size(); ++j)
            if (known[j] && !known[j]->is_member && known[j]->member.nonce == record.nonces[j])
                installations.push_back(requests_.install_if_new(
                    j, first_membership(nodes_.set(), record, j, quarantine_), has_finished));
    }
    co_await client_.join(std::move(installations));
    if (has_finished) co_return;
    // A node that gives no answer has not forgotten.
    notes_.trouble = view_.is_lost() ? std::string(lost_set) : std::string(few_members);
}

void genesis::require_all(const reports& answers) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (!answers[i])
            throw error(errc::no_quorum, "A set begins only when all of its nodes can join; " +
                                             nodes_.name_of(i) + ": " + diagnosis_.objection_of(i) +
                                             ".");
}

error genesis::membership_error(std::size_t node, const member_report& report) const {
    if (report.set != nodes_.set().set)
        return {errc::bad_option,
                nodes_.name_of(node) + " is a member of another set" +
                    (report.nodes.empty() ? "" : ", " + with_ttl_max(report.nodes)) +
                    "; use that set, or leave the node out of this one. pawl redlock init --force "
                    "would take it away from that set, whose holders could then lose their locks."};
    return {errc::bad_option,
            nodes_.name_of(node) + " is a member of a set already" +
                (view_.is_lost() ? ", of which too few members are left"
                                 : ", which grants locks once its nodes vote") +
                "; see pawl redlock status. If nobody holds a lock of these nodes, pawl redlock "
                "init --force begins a new set."};
}

error genesis::no_set_begun() const {
    return {errc::no_set, "No set was begun: " + notes_.trouble + "."};
}

// Each node is asked, also after one of them has failed: the next call ends what is left.
asio::awaitable<void> genesis::end_first_quarantine(const reports& known) {
    std::optional<error> failure;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        try {
            co_await requests_.end_quarantine(i, known[i]->member.nonce);
        } catch (const error& e) {
            failure = e;
        }
    }
    if (failure) throw error(*failure);
}

asio::awaitable<void> genesis::require_complete_set() {
    static_cast<void>(co_await requests_.prepare_all());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].state != standing::member)
            throw error(errc::no_quorum, "The set is not complete; " + nodes_.name_of(i) + ": " +
                                             diagnosis_.objection_of(i) +
                                             "; run the command again.");
}

// Without a clock nobody knows whether they agree.
void genesis::require_all_clocks(const clocks& known) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (!known[i])
            throw error(errc::no_quorum,
                        "No set was begun: " + nodes_.name_of(i) +
                            " has not shown its clock, and a set begins only when all clocks "
                            "agree; run the command again.");
}

// Nothing is forgotten unless all nodes answer, and can begin a set: one that works must not be
// lost.
asio::awaitable<void> genesis::begin_by_operator(bool forget_members) {
    auto first = co_await requests_.prepare_all();
    require_all(first);
    // An earlier call may have reached some of the nodes only.
    const auto members = view_.count_members();
    if (!forget_members && members > 0 && members < nodes_.size()) {
        co_await finish(first);
        first = co_await requests_.prepare_all();
        require_all(first);
    }
    if (!forget_members && view_.is_new_set()) {
        co_await end_first_quarantine(first);
        co_return co_await require_complete_set();
    }
    const auto shown = co_await requests_.read_clocks();
    require_all_clocks(shown);
    notes_.trouble = objection_to_clocks(shown);
    if (!notes_.trouble.empty()) throw no_set_begun();
    if (forget_members) {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            co_await requests_.forget(i, {});
        first = co_await requests_.prepare_all();
        require_all(first);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (first[i]->is_member) throw membership_error(i, *first[i]);
    co_await begin(first, {});
    if (!notes_.trouble.empty()) throw no_set_begun();
    co_await require_complete_set();
}

}  // namespace pawl::redlock
