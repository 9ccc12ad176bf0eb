#include "doctor.hpp"

#include "greeting.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include <algorithm>
#include <array>

namespace asio = boost::asio;
using grade = pawl::finding::grade;

namespace pawl::redis {
namespace {

std::string in_ms(duration d) {
    const auto tenths = d / std::chrono::microseconds(100);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " ms";
}

finding eviction(const std::string& memory) {
    const auto policy = info_field(memory, "maxmemory_policy");
    if (policy.empty())
        return {grade::note, "eviction policy", "not readable", "allow the user INFO"};
    if (policy == "noeviction" || number(info_field(memory, "maxmemory")) == 0)
        return {grade::good, "eviction policy", policy, ""};
    return {grade::bad, "eviction policy", policy,
            "the server may evict a lock that is held; set maxmemory-policy noeviction"};
}

finding replication(const std::string& info) {
    const auto role = info_field(info, "role");
    const auto replicas = number(info_field(info, "connected_slaves"));
    if (role == "slave") return {grade::bad, "role", "replica", "connect to the master"};
    if (replicas == 0) return {grade::good, "replicas", "none", ""};
    return {grade::warning, "replicas", std::to_string(replicas),
            "a failover can lose a lock that is held, and this URL does not follow it; let the "
            "resource "
            "check the token"};
}

// `policy` as appendfsync has it; empty: not readable.
guarantee_row guarantees(bool aof, const std::string& policy, bool replicated) {
    const bool always = aof && policy == "always";
    guarantee_row row;
    row.backend = !aof             ? "Redis, no persistence"
                  : policy.empty() ? "Redis, AOF, fsync unknown"
                                   : "Redis, AOF " + (policy == "no" ? "without fsync" : policy);
    row.holder_crash = "holds, after the ttl";
    row.holder_pause = "holds for holders that stop when told";
    row.server_crash = !aof             ? "can break: the lock is forgotten"
                       : always         ? "holds"
                       : policy == "no" ? "can break on power loss: tens of seconds are forgotten"
                                        : "can break on power loss";
    row.failover = replicated ? "can break: a replica may not know the lock" : "does not apply";
    row.partition = "holds for holders that stop when told";
    row.clock_jump = "can break";
    row.token = always ? "never goes back" : "never goes back while the server's clock is right";
    return row;
}

asio::awaitable<std::string> info(link& over, std::string_view section, time_point give_up_at) {
    const std::array<std::string_view, 2> words{"INFO", section};
    const auto answer = co_await over.exec(words, give_up_at);
    // Their first lines are headings; a field then always follows a line end.
    co_return answer.what == reply::kind::string ? "\n" + answer.text : std::string();
}

finding persistence(bool aof, const std::string& policy) {
    if (!aof)
        return {grade::warning, "persistence", "no append-only file",
                "a crash of the server forgets who holds what; set appendonly yes, or let the "
                "resource check the token"};
    if (policy == "always")
        return {grade::good, "persistence", "append-only file, fsync always", ""};
    if (policy == "everysec")
        return {grade::note, "persistence", "append-only file, fsync everysec",
                "a power loss may forget the last second; appendfsync always does not"};
    if (policy.empty())
        return {grade::note, "persistence", "append-only file, fsync not readable",
                "allow the user CONFIG GET, to see how much a power loss may forget"};
    return {grade::warning, "persistence", "append-only file, fsync " + policy,
            "a power loss may forget the last tens of seconds, as the kernel decides; appendfsync "
            "everysec forgets one second at most, always nothing"};
}

void add_clock(std::vector<finding>& all, std::vector<duration> trips, duration offset) {
    std::sort(trips.begin(), trips.end());
    const auto median = trips[trips.size() / 2];
    all.push_back({median < std::chrono::milliseconds(50) ? grade::good : grade::warning, "latency",
                   in_ms(median) + " median, " + in_ms(trips.back()) + " worst of 20",
                   median < std::chrono::milliseconds(50) ? "" : "use a ttl of many round trips"});
    const auto away = offset < duration{} ? -offset : offset;
    const bool near = away < std::chrono::seconds(1);
    all.push_back(
        {near ? grade::good : grade::warning, "clock offset",
         (away < std::chrono::microseconds(100) ? ""
          : offset < duration{}                 ? "-"
                                                : "+") +
             in_ms(away),
         near ? "" : "one of the two clocks is wrong; leases do not mind, jumps and tokens do"});
}

}  // namespace

asio::awaitable<examination> examine_server(link& over, runtime& time, const options& where) {
    examination report;
    auto& all = report.findings;
    const auto soon = [&] { return time.now() + where.reply_timeout; };
    const std::array<std::string_view, 1> ping{"PING"};
    while (!over.connected())
        co_await over.exec(ping, soon());
    const auto& met = over.current();
    all.push_back(
        {grade::good, "server",
         met.server + " " + (met.version.empty() ? "?" : met.version) + " at " + describe(where),
         ""});
    const auto memory = co_await info(over, "memory", soon());
    all.push_back(eviction(memory));

    const auto saved = co_await info(over, "persistence", soon());
    const bool aof = info_field(saved, "aof_enabled") == "1";
    std::string policy;
    if (aof) {
        const std::array<std::string_view, 3> ask{"CONFIG", "GET", "appendfsync"};
        const auto answer = co_await over.exec(ask, soon());
        if (answer.items.size() == 2) policy = answer.items[1].text;
    }
    all.push_back(persistence(aof, policy));
    const auto replicas = co_await info(over, "replication", soon());
    const bool replicated = number(info_field(replicas, "connected_slaves")) > 0;
    report.guarantees = guarantees(aof, policy, replicated);
    all.push_back(replication(replicas));
    if (info_field(replicas, "role").empty())
        all.back() = {grade::note, "replicas", "not readable", "allow the user INFO"};

    std::vector<duration> trips;
    duration offset{};
    for (auto i = 0; i < 20; ++i) {
        const std::array<std::string_view, 1> ask{"TIME"};
        const auto begin = time.now();
        const auto wall = time.wall();
        const auto answer = co_await over.exec(ask, soon());
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
    co_return report;
}

}  // namespace pawl::redis
