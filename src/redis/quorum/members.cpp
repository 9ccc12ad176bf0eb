// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "members.hpp"

#include "node_failures.hpp"
#include "node_request.hpp"

#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// Once a majority may vote, nodes that have not failed yet get this long to connect.
constexpr auto connection_grace = 100ms;
constexpr auto standing_interval = 1s;

std::string seconds_text(duration time_span) {
    return std::to_string(std::max<std::int64_t>(
               1, std::chrono::ceil<std::chrono::seconds>(time_span).count())) +
           " s";
}

}  // namespace

// A node counts its quarantine by its own clock, and a lease that was granted before may end late
// by its node's.
members::members(std::vector<redis::link*> nodes, std::vector<std::string> names,
                 const set_parameters& set, duration longest_ttl, duration reply_timeout,
                 const backend_context& context, const redis::limits& bounds, background& client)
    : set_(set),
      quarantine_(longest_ttl + longest_ttl / 10 + 10ms),
      reply_timeout_(reply_timeout),
      context_(context),
      bounds_(bounds),
      client_(client),
      repair_pauses_(*context.time, bounds),
      changed_(*context.time, context.strand) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes_.push_back({.server = nodes[i], .name = std::move(names[i])});
}

std::size_t members::index_of(const redis::link& node_link) const noexcept {
    return static_cast<std::size_t>(std::ranges::find(nodes_, &node_link, &node_record::server) -
                                    nodes_.begin());
}

bool members::may_vote(std::size_t node) const {
    const auto& candidate = nodes_[node];
    return candidate.server->connected() && candidate.state == standing::member &&
           candidate.quarantine_ends <= now();
}

// Follows a shorter round trip quickly: one answer may be late for a reason of its own.
void members::note_round_trip(std::size_t node, duration round_trip) noexcept {
    auto& known = nodes_[node].round_trip;
    if (known == duration{})
        known = round_trip;
    else
        known += (round_trip - known) / (round_trip < known ? 2 : 8);
}

duration members::round_trip_of_majority() const {
    std::vector<duration> known;
    for (const auto& each : nodes_)
        if (each.round_trip > duration{}) known.push_back(each.round_trip);
    if (known.size() < majority()) return {};
    const auto last = known.begin() + static_cast<std::ptrdiff_t>(majority()) - 1;
    std::ranges::nth_element(known, last);
    return *last;
}

std::size_t members::count_voters() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i)
        if (may_vote(i)) ++count;
    return count;
}

std::string members::objection_of(std::size_t node) const {
    const auto& asked = nodes_[node];
    const auto trouble =
        asked.trouble.empty() ? "has not answered yet" : without_name(asked.trouble, name_of(node));
    if (!asked.server->connected()) {
        const auto failure = asked.server->connection_failure();
        return failure.empty() ? trouble : without_name(failure, name_of(node));
    }
    switch (asked.state) {
    case standing::unknown: return trouble;
    case standing::forgetful: return "has lost its data, or is new, and waits to join the set";
    case standing::other_set:
        return "belongs to another set, " +
               (asked.other_nodes.empty() ? "perhaps one of an earlier version of Pawl"
                                          : asked.other_nodes) +
               ": all clients must name the same nodes in the same way, with the same ttl_max";
    case standing::outdated:
        return "is not what the other nodes know by this name: another server has joined the set "
               "in its place, or it has got older data back; two servers must never answer to one "
               "name";
    case standing::unsuitable: return asked.trouble;
    case standing::member: break;
    }
    if (asked.quarantine_ends > now())
        return "has joined the set lately, and votes in " +
               seconds_text(asked.quarantine_ends - now()) +
               ", because a hold that it does not know may last until then";
    return {};
}

std::vector<std::string> members::names() const {
    std::vector<std::string> result;
    for (const auto& each : nodes_)
        result.push_back(each.name);
    return result;
}

std::string members::objections() const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size(); ++i)
        texts.push_back(objection_of(i));
    return grouped_text(names(), texts);
}

bool members::is_lost() const {
    const auto forgetful = static_cast<std::size_t>(
        std::ranges::count(nodes_, standing::forgetful, &node_record::state));
    return forgetful < size() && size() - forgetful < majority();
}

std::string members::trouble_of_set() const {
    const bool is_new = std::ranges::all_of(
        nodes_, [](const node_record& each) { return each.state == standing::forgetful; });
    // The last repair may have come before some of the nodes.
    if (is_new && !may_begin_set_) return std::string(no_set);
    if (!repair_trouble_.empty()) return repair_trouble_;
    if (is_lost()) return std::string(lost_set);
    return is_new ? std::string(no_set) : std::string();
}

std::optional<time_point> members::quarantine_end() const {
    std::vector<time_point> ends;
    for (std::size_t i = 0; i < size(); ++i)
        if (nodes_[i].server->connected() && nodes_[i].state == standing::member)
            ends.push_back(nodes_[i].quarantine_ends);
    if (ends.size() < majority()) return std::nullopt;
    const auto last = ends.begin() + static_cast<std::ptrdiff_t>(majority()) - 1;
    std::ranges::nth_element(ends, last);
    if (*last <= now()) return std::nullopt;
    return *last;
}

std::optional<errc> members::lasting_reason() const {
    node_failures failures(size());
    for (std::size_t i = 0; i < size(); ++i) {
        const auto& each = nodes_[i];
        if (!each.server->connected() && !each.trouble.empty())
            failures.add(i, error(each.trouble_reason, each.trouble));
        if (each.server->connected() && each.state == standing::other_set)
            failures.add(i, error(errc::other_set, objection_of(i)));
    }
    return failures.lasting_reason();
}

errc members::reason_of(std::size_t node) const noexcept {
    return nodes_[node].server->connected() && nodes_[node].state == standing::other_set
               ? errc::other_set
               : errc::no_quorum;
}

bool members::is_new_set() const {
    return std::ranges::all_of(nodes_, [this](const node_record& each) {
        return each.server->connected() && each.state == standing::member &&
               each.member.incarnation == 1 && each.quarantine_ends > now();
    });
}

bool members::forms_no_set() const {
    const auto member_count =
        static_cast<std::size_t>(std::ranges::count(nodes_, standing::member, &node_record::state));
    return member_count < majority() && std::ranges::all_of(nodes_, [](const node_record& each) {
               return each.server->connected() && each.state != standing::unknown &&
                      each.state != standing::unsuitable;
           });
}

error members::no_majority() const {
    const auto reason = forms_no_set() || is_new_set() ? errc::no_set : errc::no_quorum;
    auto text = "Fewer than " + std::to_string(majority()) + " of the " + std::to_string(size()) +
                " nodes can vote: " + objections();
    auto trouble = may_begin_set_ ? repair_trouble_ : trouble_of_set();
    if (is_new_set()) trouble = new_set;
    if (!trouble.empty()) text += "; " + trouble;
    if (has_server_twice()) return {errc::bad_option, text + "."};
    return {lasting_reason().value_or(reason), text + "."};
}

// Every node has answered or failed.
bool members::is_connected() const {
    return std::ranges::none_of(nodes_, [](const node_record& each) {
        return each.is_connecting || (each.server->connected() && each.state == standing::unknown &&
                                      each.trouble.empty());
    });
}

asio::awaitable<bool> members::wait_until_ready(time_point give_up_at,
                                                bool (members::*is_ready)() const,
                                                bool may_repair) {
    std::optional<time_point> complete_by;
    for (;;) {
        for (std::size_t i = 0; i < size(); ++i) {
            connect(i);
            ask_again(i);
        }
        if (may_repair && std::ranges::any_of(nodes_, &node_record::needs_repair)) start_repair();
        if ((this->*is_ready)()) {
            if (!complete_by) complete_by = now() + connection_grace;
            if (is_connected() || now() >= *complete_by) co_return true;
            co_await changed_.wait_until(*complete_by);
            continue;
        }
        if (is_settled() || now() >= give_up_at) co_return false;
        co_await changed_.wait_until(give_up_at);
    }
}

asio::awaitable<std::optional<error>> members::wait_for_majority(time_point give_up_at) {
    if (!std::exchange(may_begin_set_, true)) next_repair_ = time_point::min();
    const bool is_ready = co_await wait_until_ready(give_up_at, &members::has_voters, true);
    if (is_ready) co_return std::nullopt;
    co_return std::make_optional<error>(no_majority());
}

asio::awaitable<std::optional<error>> members::wait_for_readable(time_point give_up_at) {
    const bool is_ready = co_await wait_until_ready(give_up_at, &members::can_be_read, false);
    if (is_ready) co_return std::nullopt;
    co_return std::make_optional<error>(no_majority());
}

// A set begins only with all its nodes, so with fencing such a server is in none.
bool members::has_server_twice() const {
    return !set_.is_fenced() && std::ranges::any_of(nodes_, [](const node_record& each) {
        return each.server->connected() && each.state == standing::unsuitable;
    });
}

bool members::can_be_read() const {
    std::size_t answers = 0, answers_of_members = 0;
    for (const auto& each : nodes_) {
        if (!each.server->connected()) continue;
        const bool is_member = each.state == standing::member || each.state == standing::outdated;
        if (is_member || each.state == standing::forgetful) ++answers;
        if (is_member) ++answers_of_members;
    }
    return answers >= majority() && answers_of_members > 0;
}

std::size_t members::least_views() const {
    const auto voters = count_voters();
    if (voters >= majority()) return majority();
    const auto unknown = size() - voters;
    return unknown < majority() ? majority() - unknown : 1;
}

void members::connect(std::size_t node) {
    auto& connected = nodes_[node];
    if (connected.server->connected() || connected.is_connecting) return;
    // After a failure, the link goes on by itself.
    if (!connected.server->connection_failure().empty()) return;
    connected.is_connecting = true;
    client_.spawn(make_connection(node));
}

asio::awaitable<void> members::make_connection(std::size_t node) {
    const std::array<std::string_view, 1> ping{"PING"};
    std::optional<error> failure;
    try {
        co_await nodes_[node].server->exec(ping, now() + reply_timeout_);
    } catch (const error& e) {
        failure = e;
    } catch (const std::exception& e) {
        failure.emplace(errc::unreachable, e.what());
    }
    // Otherwise the node may have been found unsuitable meanwhile.
    if (failure) {
        nodes_[node].trouble = failure->what();
        nodes_[node].trouble_reason = failure->reason();
    }
    nodes_[node].is_connecting = false;
    changed_.notify_all();
}

// Why the server must not be in a set; empty if it may be.
std::string members::objection_to_server(std::size_t node) const {
    const auto& session = nodes_[node].server->current();
    if (session.run_id.empty())
        return "its run id is not known, so a restart, or a second name of the server, could not "
               "be noticed; allow the user INFO, as pawl acl shows";
    for (std::size_t i = 0; i < size(); ++i)
        if (i != node && nodes_[i].server->connected() &&
            nodes_[i].server->current().run_id == session.run_id)
            return "is the same server as " + name_of(i) +
                   "; each node must be a server of its own";
    return {};
}

void members::on_connected(const redis::link& node_link) {
    const auto node = index_of(node_link);
    if (node == size()) return;
    nodes_[node].state = standing::unknown;
    nodes_[node].connected_at = now();
    nodes_[node].trouble.clear();
    nodes_[node].is_silent = false;
    nodes_[node].asked_at = now();
    if (set_.is_fenced()) return client_.spawn(learn_standing(node));
    adopt(node, {.is_member = true, .set = set_.set});
    changed_.notify_all();
}

void members::on_disconnected(const redis::link& node_link) noexcept {
    const auto node = index_of(node_link);
    if (node == size()) return;
    nodes_[node].state = standing::unknown;
    nodes_[node].trouble.clear();
}

void members::ask_again(std::size_t node) {
    auto& asked = nodes_[node];
    if (!set_.is_fenced() || !asked.server->connected() || may_vote(node)) return;
    if (asked.state == standing::forgetful || now() < asked.asked_at + standing_interval) return;
    asked.asked_at = now();
    client_.spawn(learn_standing(node));
}

asio::awaitable<void> members::learn_standing(std::size_t node) {
    const auto connection = link_of(node).current().connection_number;
    reports into(size());
    co_await ask_standing(node, into);
    // A later connection asks for itself.
    if (link_of(node).current().connection_number == connection && into[node])
        adopt(node, *into[node]);
    changed_.notify_all();
}

asio::awaitable<void> members::ask_standing(std::size_t node, reports& into) {
    try {
        const standing_call call{set_};
        const auto asked_at = now();
        const auto answer = co_await ask_node(link_of(node), call, now() + reply_timeout_);
        note_round_trip(node, now() - asked_at);
        redis::throw_if_error(answer, name_of(node));
        into[node] = call.read(answer);
    } catch (const error& e) {
        nodes_[node].trouble = e.what();
    }
}

asio::awaitable<void> members::learn_standings() {
    for (std::size_t i = 0; i < size(); ++i)
        connect(i);
    const auto give_up_at = now() + reply_timeout_;
    while (!is_settled() && now() < give_up_at)
        co_await changed_.wait_until(give_up_at);
}

bool members::is_member(const std::optional<member_report>& report) const {
    return report && report->is_member && report->set == set_.set;
}

void members::adopt(std::size_t node, const member_report& report) {
    auto& asked = nodes_[node];
    asked.trouble = objection_to_server(node);
    const bool is_of_set = report.is_member && report.set == set_.set;
    if (asked.trouble.empty() && is_of_set && set_.is_fenced() &&
        !is_sound(report.member, report.highest, size()))
        asked.trouble = "its membership is damaged; delete its key " + set_.member_key +
                        ", and the node joins again as after a loss of its data";
    if (!asked.trouble.empty()) {
        asked.state = standing::unsuitable;
    } else if (!report.is_member) {
        asked.state = standing::forgetful;
    } else if (!is_of_set) {
        asked.state = standing::other_set;
        asked.other_nodes = report.nodes;
    } else {
        asked.state = standing::member;
        asked.member = report.member;
        asked.quarantine_ends =
            now() + std::chrono::milliseconds(std::clamp<std::int64_t>(
                        report.quarantine_ms, 0, redis::milliseconds_of(1LL << 50).count()));
    }
    judge_members();
}

void members::judge_members() {
    const auto is_known = [](const node_record& each) {
        return each.server->connected() &&
               (each.state == standing::member || each.state == standing::outdated);
    };
    for (std::size_t i = 0; i < size(); ++i) {
        auto& judged = nodes_[i];
        if (!is_known(judged)) continue;
        const bool is_outdated = is_of_another_node(judged.member, i) ||
                                 std::ranges::any_of(nodes_, [&](const node_record& each) {
                                     return &each != &judged && is_known(each) &&
                                            has_heard_of_later(each.member, i, judged.member);
                                 });
        judged.state = is_outdated ? standing::outdated : standing::member;
    }
}

// The largest clock that a majority of the nodes has reached: at least one of them is right while a
// minority is wrong.
std::int64_t members::token_floor() const {
    std::vector<std::int64_t> clocks;
    for (const auto& each : nodes_) {
        if (!each.server->connected()) continue;
        const auto passed =
            std::chrono::duration_cast<std::chrono::microseconds>(now() - each.connected_at);
        clocks.push_back(token_of_clock(each.server->current().time_us, passed));
    }
    if (clocks.size() < majority()) return 0;
    std::ranges::sort(clocks, std::ranges::greater{});
    return clocks[majority() - 1];
}

void members::on_objection(std::size_t node, const standing_reply& refusal) {
    auto& asked = nodes_[node];
    switch (refusal.refusal) {
    case objection::none: return;
    case objection::quarantine:
        asked.quarantine_ends = now() + redis::milliseconds_of(refusal.quarantine_ms);
        return;
    case objection::other_set:
        asked.state = standing::other_set;
        asked.asked_at = time_point::min();  // which one it is
        break;
    case objection::amnesia:
        asked.state = standing::forgetful;
        start_repair();
        break;
    }
    changed_.notify_all();
}

}  // namespace pawl::redlock
