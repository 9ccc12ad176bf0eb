#include "doctor.hpp"

#include "assessment.hpp"
#include "greeting.hpp"
#include "name_look_up.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "server_comparison.hpp"

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

std::string readable(duration d) {
    if (d < std::chrono::milliseconds(1))
        return std::to_string(d / std::chrono::microseconds(1)) + " µs";
    const auto tenths = d / std::chrono::microseconds(100);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

asio::awaitable<std::string> info(link& over, std::string_view section, time_point give_up_at) {
    const std::array<std::string_view, 2> words{"INFO", section};
    const auto answer = co_await over.exec(words, give_up_at);
    // Their first lines are headings; a field then always follows a line end.
    co_return answer.what == reply::kind::string ? "\n" + answer.text : std::string();
}

// As the URL names the server: what a host's name leads to may be another tomorrow.
bool is_loopback(const std::string& host) {
    if (host == "localhost" || host.ends_with(".localhost")) return true;
    boost::system::error_code no_address;
    const auto address = asio::ip::make_address(host, no_address);
    return !no_address && address.is_loopback();
}

transport transport_of(const options& where) {
    if (!where.unix_socket.empty()) return transport::unix_socket;
    if (where.tls.on) return where.tls.verify ? transport::tls : transport::tls_unchecked;
    return is_loopback(where.host) ? transport::loopback : transport::plain;
}

persistence persistence_of(bool aof, const std::string& policy) {
    if (!aof) return persistence::none;
    if (policy == "always") return persistence::always;
    if (policy == "everysec") return persistence::everysec;
    return policy.empty() ? persistence::unknown_fsync : persistence::no;
}

asio::awaitable<persistence> ask_persistence(link& over, runtime& time, const options& where) {
    const auto saved = co_await info(over, "persistence", time.now() + where.reply_timeout);
    const bool aof = info_field(saved, "aof_enabled") == "1";
    if (!aof) co_return persistence::none;
    const std::array<std::string_view, 3> ask{"CONFIG", "GET", "appendfsync"};
    const auto answer = co_await over.exec(ask, time.now() + where.reply_timeout);
    co_return persistence_of(aof, answer.items.size() == 2 ? answer.items[1].text : "");
}

struct standing {
    topology stands = topology::unknown;
    std::int64_t replicas = 0;
    std::int64_t nodes = 0;  // with slots, of the cluster
};

asio::awaitable<standing> ask_topology(link& over, runtime& time, const options& where) {
    standing found;
    const auto replication = co_await info(over, "replication", time.now() + where.reply_timeout);
    const auto role = info_field(replication, "role");
    found.replicas = static_cast<std::int64_t>(number(info_field(replication, "connected_slaves")));
    const auto cluster = co_await info(over, "cluster", time.now() + where.reply_timeout);
    if (info_field(cluster, "cluster_enabled") == "1") {
        found.stands = topology::cluster;
        const std::array<std::string_view, 2> ask{"CLUSTER", "INFO"};
        const auto answer = co_await over.exec(ask, time.now() + where.reply_timeout);
        if (answer.what == reply::kind::string)
            found.nodes =
                static_cast<std::int64_t>(number(info_field("\n" + answer.text, "cluster_size")));
    } else if (!role.empty()) {
        found.stands = role == "slave"      ? topology::replica
                       : found.replicas > 0 ? topology::replicated
                                            : topology::alone;
    }
    co_return found;
}

void add_clock(std::vector<finding>& all, std::vector<duration> trips, duration offset) {
    std::sort(trips.begin(), trips.end());
    const auto median = trips[trips.size() / 2];
    all.push_back({median < std::chrono::milliseconds(50) ? grade::good : grade::warning, "latency",
                   readable(median) + " median, " + readable(trips.back()) + " worst of 20",
                   median < std::chrono::milliseconds(50) ? "" : "use a ttl of many round trips"});
    const auto away = offset < duration{} ? -offset : offset;
    const bool near = away < std::chrono::seconds(1);
    all.push_back(
        {near ? grade::good : grade::warning, "clock offset",
         (away < std::chrono::microseconds(100) ? ""
          : offset < duration{}                 ? "-"
                                                : "+") +
             readable(away),
         near ? "" : "one of the two clocks is wrong; leases do not mind, jumps and tokens do"});
}

asio::awaitable<void> add_latency(std::vector<finding>& all, link& over, runtime& time,
                                  const options& where) {
    std::vector<duration> trips;
    duration offset{};
    for (auto i = 0; i < 20; ++i) {
        const std::array<std::string_view, 1> ask{"TIME"};
        const auto begin = time.now();
        const auto wall = time.wall();
        const auto answer = co_await over.exec(ask, begin + where.reply_timeout);
        const auto trip = time.now() - begin;
        if (answer.items.size() == 2 &&
            (trips.empty() || trip < *std::min_element(trips.begin(), trips.end()))) {
            const auto there = std::chrono::seconds(number(answer.items[0].text)) +
                               std::chrono::microseconds(number(answer.items[1].text));
            offset = there - (wall.time_since_epoch() + trip / 2);
        }
        trips.push_back(trip);
    }
    add_clock(all, std::move(trips), offset);
}

// Of a host that the URL names; clients compare its addresses only when they first connect.
asio::awaitable<void> add_addresses(std::vector<finding>& all, runtime& time, const options& where,
                                    const std::string& run_id) {
    boost::system::error_code failed;
    (void)asio::ip::make_address(where.host, failed);
    if (!where.unix_socket.empty() || !failed) co_return;
    const auto strand = co_await asio::this_coro::executor;
    name_look_up names(strand, where.host);
    addresses named;
    failed = co_await names.answer(where.port, named);
    if (failed) {
        all.push_back({grade::note, "address", where.host + ": " + failed.message(), ""});
        co_return;
    }
    const auto limit = time.now() + where.connect_timeout / 2;
    const auto servers = co_await meet_servers(where, strand, time, named, limit);
    all.push_back(address_finding(where.host, run_id, servers));
}

// A server that the layout cannot use at all is a finding too, and no reason to print none.
examination refused_examination(const options& where, const error& refusal) {
    examination report;
    report.findings.push_back(
        {grade::bad, "server", refusal.what(), "name a server that can be used in the URL"});
    auto& row = report.guarantees;
    row.backend = describe(where) + ", refused";
    row.holder_crash = row.holder_pause = row.server_crash = row.failover = row.partition =
        row.clock_jump = row.token = "does not apply: no lock is taken there";
    return report;
}

asio::awaitable<std::optional<error>> refusal_of(link& over, runtime& time, const options& where) {
    const std::array<std::string_view, 1> ping{"PING"};
    try {
        while (!over.connected())
            co_await over.exec(ping, time.now() + where.reply_timeout);
    } catch (const error& problem) {
        const bool several = dynamic_cast<const several_servers*>(&problem) != nullptr;
        if (problem.reason() != errc::unsupported && !several) throw;
        co_return problem;
    }
    co_return std::nullopt;
}

}  // namespace

asio::awaitable<examination> examine_server(link& over, runtime& time, const options& where) {
    const auto refusal = co_await refusal_of(over, time, where);
    if (refusal) co_return refused_examination(where, *refusal);
    examination report;
    auto& all = report.findings;
    const auto& met = over.current();
    all.push_back(
        {grade::good, "server",
         met.server + " " + (met.version.empty() ? "?" : met.version) + " at " + describe(where),
         ""});
    all.push_back(transport_finding(transport_of(where)));
    all.push_back(
        user_finding(!where.user.empty() && where.user != "default", !where.password.empty()));
    co_await add_addresses(all, time, where, met.run_id);
    const auto memory = co_await info(over, "memory", time.now() + where.reply_timeout);
    all.push_back(eviction_finding(info_field(memory, "maxmemory_policy"),
                                   number(info_field(memory, "maxmemory")) != 0));
    const auto writes = co_await ask_persistence(over, time, where);
    all.push_back(persistence_finding(writes));
    const auto standing = co_await ask_topology(over, time, where);
    report.guarantees = guarantees_of(writes, standing.stands);
    if (standing.stands == topology::cluster)
        all.push_back(cluster_finding(standing.nodes, where.layout == key_layout::redisson));
    if (standing.stands != topology::cluster || standing.replicas > 0)
        all.push_back(topology_finding(standing.stands, standing.replicas));
    co_await add_latency(all, over, time, where);
    co_return report;
}

}  // namespace pawl::redis
