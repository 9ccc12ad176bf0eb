// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "doctor.hpp"

#include <boost/json/value.hpp>

#include <algorithm>
#include <string>

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace pawl::consul {
namespace {

using grade = finding::grade;

// The text at this path of members; empty if there is none.
std::string text_at(const json::value& from, std::string_view first, std::string_view second) {
    const auto* object = from.if_object();
    const auto* member = object != nullptr ? object->if_contains(first) : nullptr;
    const auto* inner = member != nullptr ? member->if_object() : nullptr;
    const auto* value = inner != nullptr ? inner->if_contains(second) : nullptr;
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

finding version_finding(const json::value& self) {
    const auto version = text_at(self, "Config", "Version");
    if (version.empty())
        return {grade::note, "version", "the token may not read it",
                "a token with agent_prefix \"\" read shows it"};
    return {grade::good, "version", "Consul " + version, ""};
}

finding leader_finding(const json::value& leader) {
    const auto* text = leader.if_string();
    if (text == nullptr || text->empty())
        return {grade::bad, "leader", "there is none",
                "nothing is granted or renewed until a majority of the servers runs"};
    return {grade::good, "leader", std::string(*text), ""};
}

finding servers_finding(const json::value& peers) {
    const auto* list = peers.if_array();
    const auto count = list != nullptr ? list->size() : 0;
    const auto fact = std::to_string(count);
    if (count >= 3) return {grade::good, "servers", fact, ""};
    return {grade::warning, "servers", fact,
            "no lock is renewed or granted while one of them is away; run three or five"};
}

finding token_finding(bool has_rights) {
    if (has_rights) return {grade::good, "rights", "a session can be made", ""};
    return {grade::bad, "rights", "the token may not make sessions",
            "add session_prefix \"\" write and key_prefix of the namespace write to its policy"};
}

finding takeover_finding() {
    return {grade::note, "dead holders", "their locks are free after up to twice their ttl",
            "Consul ends a silent session so late, and each change of the leader begins this time "
            "anew; the least ttl is 10 s"};
}

finding delay_finding(duration lock_delay) {
    const auto fact = std::to_string(lock_delay / 1ms) + " ms";
    if (lock_delay == duration{}) return {grade::good, "lock-delay", fact, ""};
    return {grade::note, "lock-delay", fact,
            "so long after the end of a session that was not released, nobody gets its locks"};
}

finding tls_finding(const http::client& client) {
    if (client.has_tls()) return {grade::good, "TLS", "on", ""};
    const auto& servers = client.server_names();
    const bool is_local = std::ranges::all_of(servers, [](const auto& each) {
        return each.starts_with("127.") || each.starts_with("localhost:") ||
               each.starts_with("[::1]");
    });
    if (is_local) return {grade::good, "TLS", "off, on one host", ""};
    return {grade::warning, "TLS", "off",
            "others in the network can read the token and what is sent; use consuls://"};
}

asio::awaitable<bool> can_make_sessions(api& server, time_point give_up_at) {
    try {
        const auto id = co_await server.create_session("pawl doctor", 10s, give_up_at);
        co_await server.destroy_session(id, give_up_at);
    } catch (const error& failed) {
        if (failed.reason() != errc::refused) throw;
        co_return false;
    }
    co_return true;
}

}  // namespace

guarantee_row guarantees() {
    return {.backend = "Consul",
            .holder_crash = "holds, after up to twice the ttl",
            .holder_pause = "holds for holders that stop when told",
            .server_crash = "holds",
            .failover = "holds",
            .partition = "holds for holders that stop when told",
            .clock_jump = "holds",
            .token = "never goes back, except by a restore into another cluster"};
}

asio::awaitable<examination> examine_service(api& server, time_point give_up_at) {
    const auto leader = co_await server.examine("/v1/status/leader", give_up_at);
    const auto peers = co_await server.examine("/v1/status/peers", give_up_at);
    const auto self = co_await server.examine("/v1/agent/self", give_up_at);
    const bool has_rights = co_await can_make_sessions(server, give_up_at);
    examination result;
    result.findings = {version_finding(self),       leader_finding(leader),
                       servers_finding(peers),      token_finding(has_rights),
                       takeover_finding(),          delay_finding(server.lock_delay()),
                       tls_finding(server.client())};
    result.nodes = {{server.client().server_name(), "agent"}};
    for (auto& each : result.findings)
        each.node = server.client().server_name();
    result.guarantees = guarantees();
    co_return result;
}

}  // namespace pawl::consul
