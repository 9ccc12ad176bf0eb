// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Genesis, rejoin and refresh of the nodes of a set. Every client may do this at any time: a nonce
// names each loss of a node's memory, and nothing is installed under another nonce.
#include "members.hpp"

#include "node_request.hpp"

#include "../common/lock_base.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/clock_token.hpp"
#include "../../core/util/random.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// Neither a clock nor use reaches this: somebody has changed a counter. Lua's numbers end at 2^53.
constexpr std::int64_t absurd_token = 1LL << 52;

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

}  // namespace

void members::start_repair() {
    if (is_repairing_ || now() < next_repair_) return;
    is_repairing_ = true;
    try {
        client_.spawn(repair());
    } catch (...) {
        is_repairing_ = false;
        throw;
    }
}

// Ends when the nodes' standings are known: an acquire that still finds no majority starts the next
// repair, after a pause of its own.
asio::awaitable<void> members::repair() {
    struct end_guard {
        members& owner;
        ~end_guard() {
            owner.is_repairing_ = false;
            owner.next_repair_ = owner.now() + owner.repair_pauses_.next_pause();
            owner.changed_.notify_all();
        }
    };
    const end_guard guard{*this};
    // Clients that notice the same loss do not all repair it at once.
    const auto pause = core::random_between(*context_.time, 0ms, 20ms);
    const bool is_open = co_await client_.pause_until(now() + pause);
    if (!is_open) co_return;
    try {
        co_await repair_once();
        if (repair_trouble_.empty()) repair_pauses_.reset();
    } catch (const error& e) {
        repair_trouble_ = e.what();
    }
}

asio::awaitable<void> members::repair_now() {
    may_begin_set_ = true;
    co_await learn_standings();
    co_await repair_once();
}

asio::awaitable<void> members::repair_once() {
    const auto known = co_await prepare_all();
    const auto member_count = static_cast<std::size_t>(
        std::ranges::count_if(known, [this](const auto& each) { return is_member(each); }));
    repair_trouble_.clear();
    if (member_count >= majority()) {
        for (std::size_t i = 0; i < size(); ++i) {
            if (!known[i] || (known[i]->is_member && !is_member(known[i]))) continue;
            if (nodes_[i].state == standing::unsuitable) continue;
            std::int64_t latest = 0;
            for (const auto other : other_members(i, known))
                latest = std::max(latest, known[other]->member.vector[i]);
            if (!known[i]->is_member)
                co_await install_anew(i, known, latest + 1);
            else if (latest > known[i]->member.incarnation)
                co_await install_anew(i, known, latest);
        }
    } else if (member_count > 0) {
        co_await finish_genesis(known);
    } else if (std::ranges::all_of(known,
                                   [](const auto& each) { return each && !each->is_member; })) {
        if (may_begin_set_)
            co_await begin_set_of(known, quarantine_);
        else
            repair_trouble_ = no_set;
    } else if (!std::ranges::all_of(known, &std::optional<member_report>::has_value)) {
        repair_trouble_ =
            "a set begins only when all of its nodes can join: those that are missing could be the "
            "majority of an earlier set";
    }
    static_cast<void>(co_await prepare_all());
}

asio::awaitable<members::reports> members::prepare_all() {
    reports result(size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < size(); ++i)
        if (nodes_[i].state != standing::unsuitable) requests.push_back(prepare_one(i, result));
    co_await client_.join(std::move(requests));
    co_return result;
}

asio::awaitable<void> members::prepare_one(std::size_t node, reports& into) {
    try {
        const auto nonce = core::random_hex(*context_.time, 16);
        const prepare_call call{set_, nonce};
        const auto answer = co_await ask_node(link_of(node), call, now() + reply_timeout_);
        redis::throw_if_error(answer, name_of(node));
        auto report = call.read(answer);
        if (report.is_member && report.member.vector.size() != size())
            report.set.clear();  // damaged: as good as another set
        adopt(node, report);
        into[node] = std::move(report);
    } catch (const error& e) {
        nodes_[node].trouble = e.what();
    }
}

std::vector<std::size_t> members::other_members(std::size_t node, const reports& known) const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < size(); ++i)
        if (i != node && is_member(known[i])) result.push_back(i);
    return result;
}

// Writes the new incarnation to a majority first, and reads their highest tokens in the same step.
// A quorum that counts what the node granted before has a node in common with that majority: if it
// was confirmed there before, its token is read here; and if not, it is rejected there.
asio::awaitable<void> members::install_anew(std::size_t node, const reports& known,
                                            std::int64_t incarnation) {
    const auto others = other_members(node, known);
    if (others.size() < majority()) {
        repair_trouble_ = name_of(node) + " can join when a majority of the other nodes answers";
        co_return;
    }
    std::vector<std::int64_t> vector(size(), 0);
    std::int64_t highest = 0;
    std::size_t marked = 0;
    for (const auto other : others) {
        const mark_call call{set_, std::to_string(node), std::to_string(incarnation)};
        try {
            const auto reply = co_await ask_node(link_of(other), call, now() + reply_timeout_);
            redis::throw_if_error(reply, name_of(other));
            const auto answer = call.read(reply);
            if (answer.standing.refusal != objection::none || answer.vector.size() != size())
                continue;
            for (std::size_t i = 0; i < size(); ++i)
                vector[i] = std::max(vector[i], answer.vector[i]);
            highest = std::max(highest, answer.highest);
            ++marked;
        } catch (const error& e) {
            nodes_[other].trouble = e.what();
        }
    }
    if (marked < majority()) {
        repair_trouble_ = name_of(node) + " can join when a majority of the other nodes answers";
        co_return;
    }
    vector[node] = std::max(vector[node], incarnation);
    install_call call{.set = set_,
                      .nonce = known[node]->nonce,
                      .incarnation = std::to_string(incarnation),
                      .vector = redlock::text_of(vector),
                      .highest = std::to_string(highest),
                      .quarantine_ms = redis::milliseconds_text(quarantine_),
                      .genesis = ""};
    const bool is_installed = co_await install(node, std::move(call));
    if (is_installed && context_.log)
        context_.log(name_of(node) +
                     ": had lost its data, and has joined the set again; it votes "
                     "in " +
                     redis::milliseconds_text(quarantine_) + " ms");
}

asio::awaitable<bool> members::install(std::size_t node, install_call call) {
    try {
        const auto answer = co_await ask_node(link_of(node), call, now() + reply_timeout_);
        redis::throw_if_error(answer, name_of(node));
        co_return call.read(answer);
    } catch (const error& e) {
        nodes_[node].trouble = e.what();
        co_return false;
    }
}

asio::awaitable<std::optional<std::int64_t>> members::read_clock(std::size_t node) {
    const std::array<std::string_view, 1> ask{"TIME"};
    if (!link_of(node).connected()) co_return std::nullopt;
    const auto answer = co_await link_of(node).exec(ask, now() + reply_timeout_);
    redis::throw_if_error(answer, name_of(node));
    if (answer.items.size() != 2) co_return std::nullopt;
    const auto seconds =
        std::clamp<std::int64_t>(redis::parse_number(answer.items[0]), 0, 1LL << 40);
    const std::chrono::microseconds since_1970(seconds * 1'000'000 +
                                               redis::parse_number(answer.items[1]) % 1'000'000);
    co_return core::clock_token(std::chrono::system_clock::time_point(since_1970));
}

// All nodes must have forgotten everything at one time: between the two times that each was asked.
// Only after that may the clocks be read, so that the first token is above all that the nodes have
// granted before they forgot, while a clock is right.
asio::awaitable<void> members::begin_set_of(reports first, duration quarantine) {
    const auto second = co_await prepare_all();
    genesis_record record;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!first[i] || !second[i] || first[i]->is_member || second[i]->is_member ||
            first[i]->nonce != second[i]->nonce)
            co_return;  // another client's repair is under way, or a node is away again
        record.nonces.push_back(second[i]->nonce);
        // The clocks may have been set back since.
        if (second[i]->highest < absurd_token)
            record.seed = std::max(record.seed, second[i]->highest);
    }
    for (std::size_t i = 0; i < size(); ++i) {
        const auto clock = co_await read_clock(i);
        if (!clock) co_return;
        record.seed = std::max(record.seed, *clock);
    }
    const std::vector<std::int64_t> vector(size(), 1);
    for (std::size_t i = 0; i < size(); ++i) {
        install_call call{.set = set_,
                          .nonce = record.nonces[i],
                          .incarnation = "1",
                          .vector = redlock::text_of(vector),
                          .highest = std::to_string(record.seed),
                          .quarantine_ms = redis::milliseconds_text(quarantine),
                          .genesis = text_of(record)};
        co_await install(i, std::move(call));
    }
    if (context_.log)
        context_.log("the nodes knew no set, and form a new one; it grants its first lock in " +
                     redis::milliseconds_text(quarantine) + " ms");
}

// A set began, and not all nodes learned it. A node whose nonce is still the one of then has never
// been a member.
asio::awaitable<void> members::finish_genesis(const reports& known) {
    bool has_finished = false;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!is_member(known[i])) continue;
        const auto record = parse_genesis(known[i]->genesis);
        if (record.nonces.size() != size()) continue;
        const std::vector<std::int64_t> vector(size(), 1);
        for (std::size_t j = 0; j < size(); ++j) {
            if (!known[j] || known[j]->is_member || known[j]->nonce != record.nonces[j]) continue;
            install_call call{.set = set_,
                              .nonce = record.nonces[j],
                              .incarnation = "1",
                              .vector = redlock::text_of(vector),
                              .highest = std::to_string(record.seed),
                              .quarantine_ms = redis::milliseconds_text(quarantine_),
                              .genesis = known[i]->genesis};
            const bool is_installed = co_await install(j, std::move(call));
            has_finished = has_finished || is_installed;
        }
    }
    if (has_finished) co_return;
    repair_trouble_ = lost_set;
}

asio::awaitable<void> members::forget(std::size_t node) {
    const auto nonce = core::random_hex(*context_.time, 16);
    const forget_call call{set_, nonce};
    const auto answer = co_await ask_node(link_of(node), call, now() + reply_timeout_);
    redis::throw_if_error(answer, name_of(node));
}

void members::require_all(const reports& answers) const {
    for (std::size_t i = 0; i < size(); ++i)
        if (!answers[i])
            throw error(errc::no_quorum, "A set begins only when all of its nodes can join; " +
                                             name_of(i) + ": " + objection_of(i) + ".");
}

asio::awaitable<void> members::end_first_quarantine(const reports& known) {
    for (std::size_t i = 0; i < size(); ++i) {
        const end_quarantine_call call{set_, known[i]->nonce};
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

// Nothing is forgotten unless all nodes answer: a set that works must not be lost.
asio::awaitable<void> members::begin_set(bool forget_members) {
    co_await learn_standings();
    auto first = co_await prepare_all();
    require_all(first);
    if (!forget_members && is_new_set()) {
        co_await end_first_quarantine(first);
        co_return co_await require_complete_set();
    }
    if (forget_members) {
        for (std::size_t i = 0; i < size(); ++i)
            co_await forget(i);
        first = co_await prepare_all();
        require_all(first);
    }
    for (std::size_t i = 0; i < size(); ++i) {
        if (first[i]->is_member)
            throw error(errc::bad_option,
                        name_of(i) + " is a member of a set already" +
                            (is_lost() ? ", of which too few members are left"
                                       : ", which grants locks once its nodes vote") +
                            "; see pawl redlock status. If nobody holds a lock of these nodes, "
                            "pawl redlock init --force begins a new set.");
    }
    co_await begin_set_of(first, {});
    co_await require_complete_set();
}

}  // namespace pawl::redlock
