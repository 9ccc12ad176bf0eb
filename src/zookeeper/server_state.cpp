// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_state.hpp"

#include "../core/util/duration_text.hpp"

#include <algorithm>
#include <charconv>

using namespace std::chrono_literals;

namespace pawl::zookeeper {
namespace {

using grade = finding::grade;

std::string_view value_of(std::string_view text, std::string_view name) {
    const auto begin = text.find(name);
    if (begin == std::string_view::npos) return {};
    auto value = text.substr(begin + name.size());
    return value.substr(0, value.find_first_of("\r\n"));
}

int number_at(std::string_view text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

finding version_finding(const server_state& server) {
    if (server.version.empty())
        return {grade::note, "version", "the server does not answer srvr",
                "allow the command by 4lw.commands.whitelist=srvr to see version and role"};
    const auto major = number_at(server.version);
    const auto dot = server.version.find('.');
    const auto minor =
        dot == std::string::npos ? 0 : number_at(std::string_view(server.version).substr(dot + 1));
    const auto fact = "ZooKeeper " + server.version;
    if (major < 3 || (major == 3 && minor < 5))
        return {grade::bad, "version", fact, "Pawl needs 3.5 or later; use a newer one"};
    if (major == 3 && minor < 8)
        return {grade::warning, "version", fact, "its makers no longer mend it; use a newer one"};
    return {grade::good, "version", fact, ""};
}

// An answered request may be a tick older than the leader knows: the tick must not be larger than
// the client thinks.
finding tick_finding(const server_state& server, const client_settings& settings) {
    const auto least = server.shortest_session / 2;
    const auto fact = "the shortest session is " + core::duration_text(server.shortest_session);
    if (least > settings.tick)
        return {
            grade::bad, "tick", fact + ", the URL says tick=" + core::duration_text(settings.tick),
            "a client may believe in a session too long; set tick=" + core::duration_text(least) +
                " in the URL, or the server's tickTime"};
    return {grade::good, "tick", fact, ""};
}

finding session_finding(const server_state& server, const client_settings& settings) {
    const auto fact = "at most " + core::duration_text(server.longest_session);
    const auto longest = settings.session_timeout(settings.supported.most_ttl);
    if (server.longest_session < longest)
        return {grade::warning, "sessions", fact,
                "a ttl of " + core::duration_text(settings.supported.most_ttl) +
                    " is allowed here and refused by the server; set max_session in the URL to the "
                    "server's maxSessionTimeout"};
    return {grade::good, "sessions", fact, ""};
}

finding ensemble_finding(const std::vector<server_state>& servers) {
    const auto count = servers.size();
    const bool is_standalone =
        std::ranges::any_of(servers, [](const auto& each) { return each.role == "standalone"; });
    if (is_standalone)
        return {grade::warning, "ensemble", "one server",
                "its failure stops all locks; use three servers"};
    const auto fact =
        std::to_string(count) + (count == 1 ? " server is" : " servers are") + " in the URL";
    if (count == 1)
        return {grade::warning, "ensemble", fact,
                "name the other servers, too: a client cannot find them by itself"};
    if (count % 2 == 0)
        return {grade::note, "ensemble", fact,
                "with an even number one more failure is not survived; use an odd number"};
    return {grade::good, "ensemble", fact, ""};
}

bool is_local(const net::endpoint& server) {
    return server.host == "localhost" || server.host == "::1" || server.host.starts_with("127.");
}

finding tls_finding(const client_settings& settings) {
    if (settings.tls->tls.enabled) return {grade::good, "TLS", "on", ""};
    if (std::ranges::all_of(settings.servers, is_local))
        return {grade::good, "TLS", "off, on one host", ""};
    return {grade::warning, "TLS", "off",
            "others in the network can read and change what is sent; use zookeepers://"};
}

finding login_finding(const client_settings& settings) {
    if (settings.has_login) return {grade::good, "rights", "new nodes belong to the login", ""};
    return {grade::note, "rights", "everybody may change the nodes of the locks",
            "give a user and a password, the same to all users of the locks"};
}

}  // namespace

void read_srvr(server_state& target, std::string_view answer) {
    const auto version = value_of(answer, "Zookeeper version: ");
    target.version = version.substr(0, version.find_first_of("-, "));
    target.role = value_of(answer, "Mode: ");
}

examination examination_of(const std::vector<server_state>& servers,
                           const client_settings& settings) {
    examination result;
    for (const auto& each : servers) {
        result.nodes.push_back({each.name, each.role});
        const auto add = [&](finding found) {
            found.node = each.name;
            result.findings.push_back(std::move(found));
        };
        if (!each.failure.empty()) {
            add({grade::bad, "connection", each.failure, "start the server, or correct the URL"});
            continue;
        }
        add(version_finding(each));
        if (each.shortest_session > duration{}) add(tick_finding(each, settings));
        if (each.longest_session > duration{}) add(session_finding(each, settings));
    }
    result.findings.push_back(ensemble_finding(servers));
    result.findings.push_back(tls_finding(settings));
    result.findings.push_back(login_finding(settings));
    result.guarantees = {.backend = "ZooKeeper",
                         .holder_crash = "holds, after the ttl and up to 3.5 ticks",
                         .holder_pause = "holds for holders that stop when told",
                         .server_crash = "holds",
                         .failover = "holds",
                         .partition = "holds for holders that stop when told",
                         .clock_jump = "holds",
                         .token = "never goes back"};
    return result;
}

}  // namespace pawl::zookeeper
