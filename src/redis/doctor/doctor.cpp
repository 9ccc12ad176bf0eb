// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "doctor.hpp"

#include "../topology/connected_link.hpp"
#include "../transport/handshake.hpp"
#include "../transport/numbers.hpp"
#include "../transport/options.hpp"
#include "../transport/server_comparison.hpp"
#include "../transport/server_errors.hpp"
#include "../transport/where.hpp"
#include "assessment.hpp"
#include "open_access.hpp"

#include "../../net/endpoint.hpp"
#include "../../net/name_look_up.hpp"

#include <pawl/error.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace asio = boost::asio;
using grade = pawl::finding::grade;

namespace pawl::redis {
namespace {

std::string duration_text(duration length) {
    if (length < std::chrono::milliseconds(1))
        return std::to_string(length / std::chrono::microseconds(1)) + " µs";
    const auto tenths = length / std::chrono::microseconds(100);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

asio::awaitable<std::string> query_info(link& server_link, std::string_view section,
                                        time_point give_up_at) {
    const std::array<std::string_view, 2> words{"INFO", section};
    const auto reply = co_await server_link.exec(words, give_up_at);
    // `info_field` expects a line end before every field, so also before the first line.
    co_return reply.type == reply::kind::string ? "\n" + reply.text : std::string();
}

// Decides by the host in the URL, since the addresses of a name may change.
bool is_loopback(const std::string& host) {
    if (host == "localhost" || host.ends_with(".localhost")) return true;
    boost::system::error_code failure;
    const auto address = asio::ip::make_address(host, failure);
    return !failure && address.is_loopback();
}

bool has_sentinels(const options& server_options) {
    return std::holds_alternative<sentinels>(server_options.where);
}

bool is_followed_cluster(const options& server_options) {
    return std::holds_alternative<cluster>(server_options.where);
}

// As the client knows the server, also if a locator found it.
std::string node_name(const link& server_link, const options& server_options) {
    auto name = server_link.server_name();
    if (!name.empty()) return name;
    return has_sentinels(server_options) ? "the master" : text_of(endpoint_of(server_options));
}

// `node`: as node_name.
transport transport_of(const options& server_options, const std::string& node) {
    if (std::holds_alternative<unix_socket>(server_options.where)) return transport::unix_socket;
    if (server_options.tls.enabled)
        return server_options.tls.verify ? transport::tls : transport::tls_unchecked;
    auto host = node.substr(0, node.rfind(':'));
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    return is_loopback(host) ? transport::loopback : transport::plain;
}

persistence persistence_of(bool aof, const std::string& policy) {
    if (!aof) return persistence::none;
    if (policy == "always") return persistence::always;
    if (policy == "everysec") return persistence::everysec;
    return policy.empty() ? persistence::unknown_fsync : persistence::fsync_by_kernel;
}

asio::awaitable<persistence> query_persistence(link& server_link, runtime& time,
                                               const options& server_options) {
    const auto persistence_info =
        co_await query_info(server_link, "persistence", time.now() + server_options.reply_timeout);
    const bool aof = info_field(persistence_info, "aof_enabled") == "1";
    if (!aof) co_return persistence::none;
    const std::array<std::string_view, 3> command{"CONFIG", "GET", "appendfsync"};
    const auto reply =
        co_await server_link.exec(command, time.now() + server_options.reply_timeout);
    co_return persistence_of(aof, reply.items.size() == 2 ? reply.items[1].text : "");
}

struct deployment_facts {
    deployment server_deployment = deployment::unknown;
    std::string role;  // for `examined_node`
    std::int64_t replicas = 0;
    std::int64_t nodes = 0;  // the nodes of the cluster that have slots
};

asio::awaitable<deployment_facts> query_deployment(link& server_link, runtime& time,
                                                   const options& server_options) {
    deployment_facts facts;
    const auto replication =
        co_await query_info(server_link, "replication", time.now() + server_options.reply_timeout);
    const auto role = info_field(replication, "role");
    facts.replicas =
        static_cast<std::int64_t>(parse_number(info_field(replication, "connected_slaves")));
    const auto cluster =
        co_await query_info(server_link, "cluster", time.now() + server_options.reply_timeout);
    if (info_field(cluster, "cluster_enabled") == "1") {
        facts.server_deployment = is_followed_cluster(server_options) ? deployment::followed_cluster
                                                                      : deployment::cluster;
        const std::array<std::string_view, 2> command{"CLUSTER", "INFO"};
        const auto reply =
            co_await server_link.exec(command, time.now() + server_options.reply_timeout);
        if (reply.type == reply::kind::string)
            facts.nodes = static_cast<std::int64_t>(
                parse_number(info_field("\n" + reply.text, "cluster_size")));
    }
    if (!role.empty()) facts.role = role == "slave" ? "replica" : "primary";
    if (facts.server_deployment == deployment::unknown && !role.empty()) {
        facts.server_deployment = role == "slave"                 ? deployment::replica
                                  : has_sentinels(server_options) ? deployment::monitored
                                  : facts.replicas > 0            ? deployment::replicated
                                                                  : deployment::alone;
    }
    co_return facts;
}

// `offset`: of the server's clock, from this host's.
void add_latency_and_clock(std::vector<finding>& findings, std::vector<duration> round_trips,
                           duration offset) {
    std::sort(round_trips.begin(), round_trips.end());
    const auto median = round_trips[round_trips.size() / 2];
    findings.push_back(
        {median < std::chrono::milliseconds(50) ? grade::good : grade::warning, "latency",
         duration_text(median) + " median, " + duration_text(round_trips.back()) + " worst of 20",
         median < std::chrono::milliseconds(50) ? "" : "use a ttl of many round trips"});
    const auto distance = offset < duration{} ? -offset : offset;
    const bool is_near = distance < std::chrono::seconds(1);
    findings.push_back(
        {is_near ? grade::good : grade::warning, "clock offset",
         (distance < std::chrono::microseconds(100) ? ""
          : offset < duration{}                     ? "-"
                                                    : "+") +
             duration_text(distance),
         is_near
             ? ""
             : "one of the two clocks is wrong; an offset does not affect leases, but setting the "
               "server's clock does: correct it slowly"});
}

asio::awaitable<void> measure_latency_and_clock(std::vector<finding>& findings, link& server_link,
                                                runtime& time, const options& server_options) {
    std::vector<duration> round_trips;
    duration offset{};
    for (auto i = 0; i < 20; ++i) {
        const std::array<std::string_view, 1> command{"TIME"};
        const auto begin = time.now();
        const auto wall = time.wall_clock();
        const auto reply = co_await server_link.exec(command, begin + server_options.reply_timeout);
        const auto round_trip = time.now() - begin;
        if (reply.items.size() == 2 &&
            (round_trips.empty() ||
             round_trip < *std::min_element(round_trips.begin(), round_trips.end()))) {
            const auto server_time = std::chrono::seconds(parse_number(reply.items[0].text)) +
                                     std::chrono::microseconds(parse_number(reply.items[1].text));
            offset = server_time - (wall.time_since_epoch() + round_trip / 2);
        }
        round_trips.push_back(round_trip);
    }
    add_latency_and_clock(findings, std::move(round_trips), offset);
}

// Examines all addresses of a host's name. Clients compare them only when they connect to a new
// server.
asio::awaitable<void> add_addresses(std::vector<finding>& findings, runtime& time,
                                    const options& server_options, const std::string& run_id) {
    const auto* named = std::get_if<server>(&server_options.where);
    if (named == nullptr) co_return;
    boost::system::error_code failure;
    (void)asio::ip::make_address(named->host, failure);
    if (!failure) co_return;
    const auto strand = co_await asio::this_coro::executor;
    net::name_look_up look_up(strand, named->host);
    net::addresses resolved;
    failure = co_await look_up.wait(named->port, resolved);
    if (failure) {
        findings.push_back({grade::note, "address", named->host + ": " + failure.message(), ""});
        co_return;
    }
    const auto deadline = time.now() + server_options.connect_timeout / 2;
    const auto settings = settings_of(server_options);
    std::function<bool()> never = [] { return false; };
    const login used = co_await settings.credentials->get(time, strand, deadline, std::move(never));
    const auto servers = co_await probe_servers(
        settings, used, endpoint_of(server_options).tls_name, strand, time, resolved, deadline);
    findings.push_back(address_finding(named->host, run_id, servers));
}

// A refusal is a sentence whose last part is the advice.
finding refusal_finding(const error& refusal, bool is_monitored) {
    const std::string sentence = refusal.what();
    const auto advice = sentence.rfind("; ");
    if (!is_monitored || advice == std::string::npos)
        return {grade::bad, "server", sentence, "name a server that can be used in the URL"};
    auto text = sentence.substr(advice + 2);
    if (text.ends_with('.')) text.pop_back();
    return {grade::bad, "master", sentence.substr(0, advice), text};
}

// The report for one of several servers that does not answer, or refuses.
examination failed_examination(const link& server_link, const options& server_options,
                               const error& failure) {
    examination report;
    const auto name = node_name(server_link, server_options);
    report.nodes.push_back({name, ""});
    const std::string sentence = failure.what();
    const auto advice = std::min(sentence.rfind("; "), sentence.size());
    finding failed{grade::bad, "server", sentence.substr(0, advice),
                   "see that it runs and answers; its locks cannot be taken meanwhile", name};
    if (advice < sentence.size()) failed.advice = sentence.substr(advice + 2);
    if (failed.advice.ends_with('.')) failed.advice.pop_back();
    report.findings.push_back(std::move(failed));
    return report;
}

// The report for a server that the layout cannot use at all.
examination refused_examination(const link& server_link, const options& server_options,
                                const error& refusal) {
    examination report;
    report.nodes.push_back({node_name(server_link, server_options), ""});
    auto refused = refusal_finding(refusal, has_sentinels(server_options));
    refused.node = report.nodes.front().name;
    report.findings.push_back(std::move(refused));
    deny_guarantees(report.guarantees, describe(server_options) + ", refused");
    return report;
}

asio::awaitable<std::optional<error>> refusal_of(link& server_link, runtime& time,
                                                 const options& server_options) {
    const std::array<std::string_view, 1> ping{"PING"};
    try {
        while (!server_link.connected())
            co_await server_link.exec(ping, time.now() + server_options.reply_timeout);
    } catch (const error& refusal) {
        const bool has_several_servers =
            dynamic_cast<const several_servers_error*>(&refusal) != nullptr;
        // The Sentinels are examined also while there is no master.
        if (refusal.reason() != errc::unsupported && !has_several_servers &&
            !has_sentinels(server_options))
            throw;
        co_return refusal;
    }
    co_return std::nullopt;
}

// Empty if the user may not read it.
asio::awaitable<std::string> query_setting(link& server_link, runtime& time,
                                           const options& server_options, std::string_view name) {
    const std::array<std::string_view, 3> command{"CONFIG", "GET", name};
    const auto reply =
        co_await server_link.exec(command, time.now() + server_options.reply_timeout);
    co_return reply.items.size() == 2 ? reply.items[1].text : std::string();
}

// Each Sentinel that monitors a server subscribes to this channel there. Without the right to ask,
// there is no finding.
asio::awaitable<std::int64_t> count_sentinels(link& server_link, runtime& time,
                                              const options& server_options) {
    const std::array<std::string_view, 3> command{"PUBSUB", "NUMSUB", "__sentinel__:hello"};
    const auto reply =
        co_await server_link.exec(command, time.now() + server_options.reply_timeout);
    co_return reply.items.size() == 2 ? reply.items[1].number : 0;
}

// Without the right, or the command, no lock can be taken. The digest is that of no script.
asio::awaitable<std::optional<finding>> query_scripts(link& server_link, runtime& time,
                                                      const options& server_options) {
    if (!server_options.scripts) co_return std::nullopt;
    const std::array<std::string_view, 3> by_digest{
        "EVALSHA", "0000000000000000000000000000000000000000", "0"};
    const std::array<std::string_view, 3> by_text{"EVAL", "return 1", "0"};
    for (const auto& command : {by_digest, by_text}) {
        const auto reply =
            co_await server_link.exec(command, time.now() + server_options.reply_timeout);
        if (reply.type != reply::kind::error || !forbids_scripts(reply.text)) continue;
        co_return refused_scripts_finding(server_options.layout == key_layout::native);
    }
    co_return std::nullopt;
}

bool has_password(const options& server_options) {
    return !server_options.password.empty() || !server_options.password_file.empty() ||
           server_options.credentials != nullptr;
}

// Without a password of its own, the client shows already that none is needed.
asio::awaitable<void> add_default_user(std::vector<finding>& findings, runtime& time,
                                       const options& server_options, const std::string& node) {
    if (!has_password(server_options)) co_return;
    const auto settings = settings_of(server_options);
    const auto is_open = co_await is_open_to_all(settings, node, time);
    if (is_open) findings.push_back(default_user_finding(*is_open));
}

// The Sentinels that answer are named in the report.
asio::awaitable<void> add_sentinel_passwords(examination& report, runtime& time,
                                             const options& server_options) {
    if (!has_sentinels(server_options)) co_return;
    const auto settings = sentinel_settings_of(server_options);
    for (const auto& each : std::vector(report.nodes)) {
        if (each.role != "sentinel") continue;
        const auto is_open = co_await is_open_to_all(settings, each.name, time);
        if (!is_open) continue;
        auto answer = sentinel_password_finding(*is_open);
        answer.node = each.name;
        report.findings.push_back(std::move(answer));
    }
}

asio::awaitable<examination> examine_server(link& server_link, runtime& time,
                                            const options& server_options) {
    const auto refusal = co_await refusal_of(server_link, time, server_options);
    if (refusal) co_return refused_examination(server_link, server_options, *refusal);
    examination report;
    auto& findings = report.findings;
    const auto node = node_name(server_link, server_options);
    findings.push_back(transport_finding(transport_of(server_options, node)));
    findings.push_back(
        user_finding(!server_options.user.empty() && server_options.user != "default",
                     has_password(server_options)));
    const auto& current = server_link.current();
    co_await add_addresses(findings, time, server_options, current.run_id);
    const auto node_begin = findings.size();
    findings.push_back({grade::good, "server",
                        current.server + " " + (current.version.empty() ? "?" : current.version),
                        ""});
    co_await add_default_user(findings, time, server_options, node);
    auto scripts = co_await query_scripts(server_link, time, server_options);
    if (scripts) findings.push_back(std::move(*scripts));
    const auto memory =
        co_await query_info(server_link, "memory", time.now() + server_options.reply_timeout);
    const bool is_limited = parse_number(info_field(memory, "maxmemory")) != 0;
    findings.push_back(eviction_finding(info_field(memory, "maxmemory_policy"), is_limited));
    if (is_limited && !server_options.scripts) findings.push_back(memory_limit_finding());
    const auto server_persistence = co_await query_persistence(server_link, time, server_options);
    findings.push_back(persistence_finding(server_persistence));
    const auto facts = co_await query_deployment(server_link, time, server_options);
    report.guarantees = guarantees_of(server_persistence, facts.server_deployment);
    if (facts.server_deployment == deployment::cluster)
        findings.push_back(cluster_finding(facts.nodes));
    const bool is_in_cluster = facts.server_deployment == deployment::followed_cluster;
    if (facts.server_deployment != deployment::cluster || facts.replicas > 0)
        findings.push_back(deployment_finding(facts.server_deployment, facts.replicas));
    co_await measure_latency_and_clock(findings, server_link, time, server_options);
    if (!has_sentinels(server_options) && facts.replicas > 0) {
        const auto sentinels = co_await count_sentinels(server_link, time, server_options);
        if (sentinels > 0) findings.push_back(unused_sentinels_finding(sentinels));
    }
    if (has_sentinels(server_options) || is_in_cluster) {
        auto least =
            co_await query_setting(server_link, time, server_options, "min-replicas-to-write");
        // Without a replica, the default is right.
        if (facts.replicas > 0 || least != "0")
            findings.push_back(least_replicas_finding(least, facts.replicas));
    }
    if (is_in_cluster) {
        const auto timeout =
            co_await query_setting(server_link, time, server_options, "cluster-node-timeout");
        findings.push_back(node_timeout_finding(timeout));
        const auto coverage = co_await query_setting(server_link, time, server_options,
                                                     "cluster-require-full-coverage");
        findings.push_back(coverage_finding(coverage));
    }
    report.nodes.push_back({node, facts.role});
    for (auto i = node_begin; i < findings.size(); ++i)
        findings[i].node = report.nodes.front().name;
    co_return report;
}

// Adds what is about that node alone.
void add_node(examination& report, examination node_report) {
    for (auto& each : node_report.nodes)
        report.nodes.push_back(std::move(each));
    for (auto& each : node_report.findings)
        if (!each.node.empty()) report.findings.push_back(std::move(each));
}

}  // namespace

asio::awaitable<examination> examine_servers(topology& servers, runtime& time,
                                             const options& server_options) {
    const auto links = co_await known_links_of(servers, time.now() + server_options.reply_timeout);
    examination report;
    std::vector<examination> failed;
    std::exception_ptr failure;
    bool is_first = true;
    for (auto* each : links) {
        try {
            auto node_report = co_await examine_server(*each, time, server_options);
            if (is_first)
                report = std::move(node_report);
            else
                add_node(report, std::move(node_report));
            is_first = false;
        } catch (const error& e) {
            if (!failure) failure = std::current_exception();
            failed.push_back(failed_examination(*each, server_options, e));
        }
    }
    if (is_first) std::rethrow_exception(failure);
    for (auto& each : failed)
        add_node(report, std::move(each));
    servers.add_findings(report);
    co_await servers.examine_hosts(report, time.now() + server_options.connect_timeout);
    co_await add_sentinel_passwords(report, time, server_options);
    co_return report;
}

// A named user has no right to read the key, and the refusal would be in the server's ACL log. A
// node of Redlock is in no cluster.
asio::awaitable<void> find_redlock_nodes(examination& report, topology& servers, runtime& time,
                                         const options& server_options) {
    const bool has_own_user = !server_options.user.empty() && server_options.user != "default";
    if (has_own_user || is_followed_cluster(server_options)) co_return;
    const auto member_key = server_options.name_space + ":redlock";
    const std::array<std::string_view, 2> command{"EXISTS", member_key};
    const auto links = servers.links();
    for (auto* each : std::vector<link*>(links.begin(), links.end())) {
        if (!each->connected()) continue;
        try {
            const auto answer =
                co_await each->exec(command, time.now() + server_options.reply_timeout);
            if (answer.type != reply::kind::integer || answer.number != 1) continue;
        } catch (const error&) {
            continue;  // it has ended the connection since it was examined
        }
        report.findings.push_back(redlock_node_finding());
        report.findings.back().node = node_name(*each, server_options);
    }
}

}  // namespace pawl::redis
