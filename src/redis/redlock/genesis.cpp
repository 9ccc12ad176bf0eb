// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Genesis: nodes that know no set become one. models/redlock/genesis.pml has the rules.
#include "members.hpp"

#include "node_request.hpp"

#include "../common/lock_base.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redlock {
namespace {

// How a set began: the seed of its tokens, and the nonce of each node.
struct genesis_record {
    std::int64_t seed = 0;
    std::vector<std::string> nonces{};
};

std::string text_of(const genesis_record& record) {
    auto text = std::to_string(record.seed);
    for (const auto& each : record.nonces)
        text += " " + each;
    return text;
}

genesis_record parse_genesis(std::string_view text) {
    genesis_record result;
    bool is_first = true;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (std::exchange(is_first, false))
            result.seed = redis::parse_number<std::int64_t>(text.substr(0, end));
        else
            result.nonces.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

// All nodes of a new set have their first incarnation.
std::string marks_of(const genesis_record& record) {
    std::vector<member_mark> marks;
    for (const auto& each : record.nonces)
        marks.push_back({1, each});
    return redlock::text_of(marks);
}

install_call first_membership(const set_parameters& set, const genesis_record& record,
                              std::size_t node, duration quarantine) {
    return {.set = set,
            .nonce = record.nonces[node],
            .incarnation = "1",
            .vector = marks_of(record),
            .highest = std::to_string(record.seed),
            .quarantine_ms = redis::milliseconds_text(quarantine),
            .genesis = text_of(record)};
}

}  // namespace

asio::awaitable<void> members::read_clock(std::size_t node, clocks& into) {
    const std::array<std::string_view, 1> ask{"TIME"};
    if (!link_of(node).connected()) co_return;
    try {
        const auto answer = co_await link_of(node).exec(ask, now() + reply_timeout_);
        redis::throw_if_error(answer, name_of(node));
        if (answer.items.size() != 2) co_return;
        const auto seconds =
            std::clamp<std::int64_t>(redis::parse_number(answer.items[0]), 0, 1LL << 40);
        const std::chrono::microseconds shown(seconds * 1'000'000 +
                                              redis::parse_number(answer.items[1]) % 1'000'000);
        into[node] =
            shown - std::chrono::duration_cast<std::chrono::microseconds>(now().time_since_epoch());
    } catch (const error& e) {
        nodes_[node].trouble = e.what();
    }
}

asio::awaitable<members::clocks> members::read_clocks() {
    clocks result(size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < size(); ++i)
        requests.push_back(read_clock(i, result));
    co_await client_.join(std::move(requests));
    co_return result;
}

// The seed of the tokens is above all clocks. If one of them is far ahead, the others cannot be a
// floor for a long time: models/redlock/rolled_back.pml, fast_clock.
std::string members::objection_to_clocks(const clocks& known) const {
    std::vector<std::chrono::microseconds> shown;
    for (const auto& each : known) {
        if (!each) return {};  // no set begins without that node
        shown.push_back(*each);
    }
    const auto furthest = furthest_clock(shown);
    if (std::chrono::abs(furthest.ahead) <= most_clock_difference) return {};
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::abs(furthest.ahead));
    return "the clock of " + name_of(furthest.node) + " is " + std::to_string(seconds.count()) +
           " s " + (furthest.ahead.count() > 0 ? "ahead of" : "behind") +
           " the clocks of the other nodes, and a set begins only when they differ by less than a "
           "minute; set it right, and try again";
}

// All nodes must have forgotten everything at one time: between the two times that each was asked.
// Only after that may the clocks be read, so that the first token is above all that the nodes have
// granted before they forgot, while a clock is right.
asio::awaitable<void> members::begin_set_of(reports first, duration quarantine) {
    const auto second = co_await prepare_all();
    genesis_record record;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!first[i] || !second[i] || first[i]->is_member || second[i]->is_member ||
            first[i]->member.nonce != second[i]->member.nonce)
            co_return;  // another client's repair is under way, or a node is away again
        record.nonces.push_back(second[i]->member.nonce);
        // The clocks may have been set back since.
        if (second[i]->highest < absurd_token)
            record.seed = std::max(record.seed, second[i]->highest);
    }
    const auto shown = co_await read_clocks();
    if (!std::ranges::all_of(shown, &clocks::value_type::has_value)) co_return;
    repair_trouble_ = objection_to_clocks(shown);
    if (!repair_trouble_.empty()) co_return;
    const auto at = std::chrono::duration_cast<std::chrono::microseconds>(now().time_since_epoch());
    for (const auto& each : shown)
        record.seed = std::max(record.seed, token_of_clock((*each + at).count()));
    std::vector<asio::awaitable<void>> installations;
    bool is_installed = false;
    for (std::size_t i = 0; i < size(); ++i)
        installations.push_back(
            install_if_new(i, first_membership(set_, record, i, quarantine), is_installed));
    co_await client_.join(std::move(installations));
    if (context_.log)
        context_.log("the nodes knew no set, and form a new one; it grants its first lock in " +
                     redis::milliseconds_text(quarantine) + " ms");
}

asio::awaitable<void> members::install_if_new(std::size_t node, install_call call, bool& into) {
    const bool is_installed = co_await install(node, std::move(call));
    into = into || is_installed;
}

// A set began, and not all nodes learned it. A node whose nonce is still the one of then has never
// been a member.
asio::awaitable<void> members::finish_genesis(const reports& known) {
    std::vector<asio::awaitable<void>> installations;
    bool has_finished = false;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_member(known[i])) continue;
        const auto record = parse_genesis(known[i]->genesis);
        if (record.nonces.size() != size() || record.seed >= absurd_token) continue;
        for (std::size_t j = 0; j < size(); ++j)
            if (known[j] && !known[j]->is_member && known[j]->member.nonce == record.nonces[j])
                installations.push_back(install_if_new(
                    j, first_membership(set_, record, j, quarantine_), has_finished));
    }
    co_await client_.join(std::move(installations));
    if (has_finished) co_return;
    // A node that gives no answer has not forgotten.
    repair_trouble_ = is_lost() ? std::string(lost_set) : std::string(few_members);
}

void members::require_all(const reports& answers) const {
    for (std::size_t i = 0; i < size(); ++i)
        if (!answers[i])
            throw error(errc::no_quorum, "A set begins only when all of its nodes can join; " +
                                             name_of(i) + ": " + objection_of(i) + ".");
}

error members::membership_error(std::size_t node, const member_report& report) const {
    if (report.set != set_.set)
        return {errc::bad_option,
                name_of(node) + " is a member of another set" +
                    (report.nodes.empty() ? "" : ", " + report.nodes) +
                    "; leave it out of this one. pawl redlock init --force would take it away from "
                    "that set, whose holders could then lose their locks."};
    return {errc::bad_option,
            name_of(node) + " is a member of a set already" +
                (is_lost() ? ", of which too few members are left"
                           : ", which grants locks once its nodes vote") +
                "; see pawl redlock status. If nobody holds a lock of these nodes, pawl redlock "
                "init --force begins a new set."};
}

error members::no_set_begun() const {
    return {errc::no_set, "No set was begun: " + repair_trouble_ + "."};
}

asio::awaitable<void> members::end_first_quarantine(const reports& known) {
    for (std::size_t i = 0; i < size(); ++i) {
        const end_quarantine_call call{set_, known[i]->member.nonce};
        const auto answer = co_await ask_node(link_of(i), call, now() + reply_timeout_);
        redis::throw_if_error(answer, name_of(i));
    }
}

asio::awaitable<void> members::require_complete_set() {
    static_cast<void>(co_await prepare_all());
    for (std::size_t i = 0; i < size(); ++i)
        if (nodes_[i].state != standing::member)
            throw error(errc::no_quorum, "The set is not complete; " + name_of(i) + ": " +
                                             objection_of(i) + "; run the command again.");
}

// Without a clock nobody knows whether they agree.
void members::require_all_clocks(const clocks& known) const {
    for (std::size_t i = 0; i < size(); ++i)
        if (!known[i])
            throw error(errc::no_quorum,
                        "No set was begun: " + name_of(i) +
                            " has not shown its clock, and a set begins only when all clocks "
                            "agree; run the command again.");
}

// Nothing is forgotten unless all nodes answer, and can begin a set: one that works must not be
// lost.
asio::awaitable<void> members::begin_set(bool forget_members) {
    co_await learn_standings();
    auto first = co_await prepare_all();
    require_all(first);
    if (!forget_members && is_new_set()) {
        co_await end_first_quarantine(first);
        co_return co_await require_complete_set();
    }
    const auto shown = co_await read_clocks();
    require_all_clocks(shown);
    repair_trouble_ = objection_to_clocks(shown);
    if (!repair_trouble_.empty()) throw no_set_begun();
    if (forget_members) {
        for (std::size_t i = 0; i < size(); ++i)
            co_await forget(i, {});
        first = co_await prepare_all();
        require_all(first);
    }
    for (std::size_t i = 0; i < size(); ++i)
        if (first[i]->is_member) throw membership_error(i, *first[i]);
    co_await begin_set_of(first, {});
    if (!repair_trouble_.empty()) throw no_set_begun();
    co_await require_complete_set();
}

}  // namespace pawl::redlock
