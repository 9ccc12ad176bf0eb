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

// Once a majority may vote, nodes that have not failed yet get this long to connect, or half of the
// time that is left for them and for what follows.
constexpr auto connection_grace = 100ms;
constexpr auto standing_interval = 1s;

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
      repair_pauses_(*context.time, bounds.pauses()),
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

time_point members::next_silence() const noexcept {
    auto result = time_point::max();
    for (const auto& each : nodes_)
        if (each.silent_from > now()) result = std::min(result, each.silent_from);
    return result;
}

bool members::has_answering_majority() const noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i)
        if (link_of(i).connected() && !is_silent(i)) ++count;
    return count >= majority();
}

std::size_t members::count_voters() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i)
        if (may_vote(i)) ++count;
    return count;
}

// It has neither answered nor failed.
bool members::is_awaited(const node_record& each) {
    return each.is_connecting ||
           (each.server->connected() && each.state == standing::unknown && each.trouble.empty());
}

bool members::is_connected() const { return std::ranges::none_of(nodes_, &is_awaited); }

// A node that hangs delays the requests only once, not each of them.
bool members::may_soon_be_ready() const {
    return std::ranges::any_of(
        nodes_, [](const node_record& each) { return is_awaited(each) && !each.has_used_grace; });
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
        // What is missing cannot be told before each node has answered or failed.
        if (may_repair && is_connected() && std::ranges::any_of(nodes_, &node_record::needs_repair))
            start_repair();
        if ((this->*is_ready)()) {
            if (!complete_by)
                complete_by =
                    now() + std::min<duration>(connection_grace, (give_up_at - now()) / 2);
            if (now() >= *complete_by)
                for (auto& each : nodes_)
                    each.has_used_grace = is_awaited(each);
            if (!may_soon_be_ready()) co_return true;
            co_await changed_.wait_until(*complete_by);
            continue;
        }
        if (is_settled() || has_server_twice() || now() >= give_up_at) co_return false;
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

// A set begins only with all its nodes. One that has begun goes on without the node that has
// another one's server at the moment.
bool members::has_server_twice() const {
    if (set_.is_fenced() && count_members() > 0) return false;
    return std::ranges::any_of(nodes_, [this](const node_record& each) {
        const bool is_unsuitable = !set_.is_fenced() && each.state == standing::unsuitable;
        return each.server->connected() && (each.is_second_name || is_unsuitable);
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
    connected.has_used_grace = false;
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
    if (set_.is_fenced() && !is_sound_clock(session.time_us))
        return "its clock shows a time before 1970 or after 2069; set it right, and connect again";
    return {};
}

std::optional<std::size_t> members::node_with_same_server(std::size_t node) const {
    const auto& run_id = nodes_[node].server->current().run_id;
    for (std::size_t i = 0; i < size(); ++i)
        if (i != node && !run_id.empty() && nodes_[i].server->connected() &&
            nodes_[i].server->current().run_id == run_id)
            return i;
    return std::nullopt;
}

void members::on_connected(const redis::link& node_link) {
    const auto node = index_of(node_link);
    if (node == size()) return;
    nodes_[node].state = standing::unknown;
    nodes_[node].is_second_name = false;
    nodes_[node].clock.reset();
    const auto& session = node_link.current();
    if (session.time_us > 0)
        note_clock(node, std::chrono::microseconds(session.time_us), session.asked_at);
    nodes_[node].trouble.clear();
    on_answer(node);
    nodes_[node].asked_at = now();
    nodes_[node].has_used_grace = false;
    if (set_.is_fenced()) return client_.spawn(learn_standing(node));
    adopt(node, {.is_member = true, .set = set_.set});
    changed_.notify_all();
}

void members::on_disconnected(const redis::link& node_link) noexcept {
    const auto node = index_of(node_link);
    if (node == size()) return;
    nodes_[node].state = standing::unknown;
    nodes_[node].is_second_name = false;
    nodes_[node].trouble.clear();
}

void members::ask_again(std::size_t node) {
    auto& asked = nodes_[node];
    if (!asked.server->connected() || may_vote(node)) return;
    if (!set_.is_fenced()) {
        // There is nothing to ask for, but the other name of its server may have been corrected.
        if (asked.is_second_name && !node_with_same_server(node))
            adopt(node, {.is_member = true, .set = set_.set});
        return;
    }
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
    repair_without_requests();
    changed_.notify_all();
}

asio::awaitable<void> members::ask_standing(std::size_t node, reports& into) {
    try {
        const standing_call call{set_};
        const auto asked_at = now();
        const auto answer =
            co_await ask_node(link_of(node), call, now() + reply_timeout_, always, &known_scripts_);
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
    const bool is_of_set = report.is_member && report.set == set_.set;
    // The server itself knows which node it is, if it is one.
    const bool is_this_node =
        is_of_set && set_.is_fenced() && !is_of_another_node(report.member, node);
    const auto same_server = is_this_node ? std::nullopt : node_with_same_server(node);
    asked.is_second_name = same_server.has_value();
    asked.trouble = same_server ? "is the same server as " + name_of(*same_server) +
                                      "; each node must be a server of its own"
                                : objection_to_server(node);
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
        asked.highest = report.highest;
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

void members::note_clock(std::size_t node, std::chrono::microseconds shown,
                         time_point sent_at) noexcept {
    if (is_sound_clock(shown.count())) nodes_[node].clock = clock_reading{shown, sent_at};
}

std::optional<std::chrono::microseconds> members::clock_of(std::size_t node,
                                                           time_point when) const noexcept {
    const auto& reading = nodes_[node].clock;
    if (!reading) return std::nullopt;
    const auto passed =
        std::chrono::duration_cast<std::chrono::microseconds>(when - reading->sent_at);
    return reading->shown + passed + passed / 1000;
}

// The largest clock that a majority of the nodes has reached: at least one of them is right while a
// minority is wrong. A floor that is behind the clocks would not be above the tokens of the last
// moments, so it counts the millisecond that the answers to renewals cut off.
std::int64_t members::token_floor() const {
    std::vector<std::int64_t> shown;
    for (std::size_t i = 0; i < size(); ++i) {
        const bool shows_clock = link_of(i).connected() && link_of(i).current().time_us > 0;
        if (const auto clock = clock_of(i, now()); clock && shows_clock)
            shown.push_back(token_of_clock(clock->count() + 1000));
    }
    if (shown.size() < majority()) return 0;
    std::ranges::sort(shown, std::ranges::greater{});
    return shown[majority() - 1];
}

std::chrono::seconds members::tokens_ahead(std::size_t node) const {
    const auto floor = token_floor();
    if (floor == 0 || !nodes_[node].is_member()) return {};
    const auto ahead = time_between(floor, nodes_[node].highest);
    return ahead > most_clock_difference ? ahead : std::chrono::seconds(0);
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
