// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "doctor.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <exception>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::etcd {
namespace {

using grade = finding::grade;

struct version_number {
    int major = 0, minor = 0, patch = 0;
    auto operator<=>(const version_number&) const = default;
};

version_number parse_version(std::string_view text) noexcept {
    version_number result;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (int* const part : {&result.major, &result.minor, &result.patch}) {
        at = std::from_chars(at, end, *part).ptr;
        if (at != end) ++at;
    }
    return result;
}

// The first release of each series with the correction; later series have it.
bool is_older(const version_number& version, std::span<const version_number> corrected) {
    for (const auto& each : corrected)
        if (each.major == version.major && each.minor == version.minor) return version < each;
    return version < corrected.front();
}

constexpr std::array ignores_old_leaders{version_number{3, 4, 31}, version_number{3, 5, 13}};
constexpr std::array refuses_revoked_leases{version_number{3, 4, 38}, version_number{3, 5, 23},
                                            version_number{3, 6, 5}};

std::string megabytes(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

finding members_finding(std::size_t count) {
    const auto fact = std::to_string(count);
    if (count == 1)
        return {grade::warning, "members", fact,
                "without this one server no lock can be acquired or renewed; run 3 members"};
    if (count % 2 == 0)
        return {grade::note, "members", fact,
                "an even number of members survives no more failures than one fewer"};
    return {grade::good, "members", fact, ""};
}

finding tls_finding(const server_link& link) {
    if (link.has_tls()) return {grade::good, "TLS", "on", ""};
    const bool is_remote = std::ranges::any_of(link.servers(), [](const net::endpoint& each) {
        return each.host != "localhost" && each.host != "::1" && !each.host.starts_with("127.");
    });
    if (!is_remote) return {grade::good, "TLS", "off, on one host", ""};
    return {grade::warning, "TLS", "off",
            "others in the network can read and change what is sent; use etcds://"};
}

finding login_finding(const server_link& link) {
    if (link.has_login()) return {grade::good, "login", "with user and password", ""};
    return {grade::note, "login", "none",
            "whoever reaches the members can change every lock, unless etcd checks client "
            "certificates; see the page of the backend"};
}

finding alarm_finding(const std::vector<alarm_kind>& alarms) {
    if (std::ranges::find(alarms, alarm_kind::corrupt) != alarms.end())
        return {grade::bad, "alarms", "a member's data are damaged",
                "replace the member as etcd's manual says"};
    if (std::ranges::find(alarms, alarm_kind::no_space) != alarms.end())
        return {grade::bad, "alarms", "the database is full, so new clients get no lock",
                "compact and defragment it, raise the quota, and run `etcdctl alarm disarm`"};
    return {grade::good, "alarms", "none", ""};
}

// What one member says about itself; a finding about a member that does not answer.
asio::awaitable<void> examine_member(std::shared_ptr<lock_client> client, net::endpoint server,
                                     examination& result, time_point give_up_at) {
    const auto name = net::text_of(server);
    std::string role = "unknown";
    try {
        const auto answer =
            co_await client->link().call_member(server, methods::status, {}, give_up_at);
        const auto status = read_status(answer);
        role = status.member == status.leader ? "leader" : "follower";
        for (auto each : {version_finding(status.version),
                          size_finding(status.database_size, status.size_in_use)}) {
            each.node = name;
            result.findings.push_back(std::move(each));
        }
    } catch (const error& failed) {
        result.findings.push_back(
            {grade::bad, "member", failed.what(), "start it, or leave it out of the URL", name});
    }
    result.nodes.push_back({name, role});
}

}  // namespace

guarantee_row guarantees() {
    return {.backend = "etcd",
            .holder_crash = "holds, after the ttl, or twice the ttl if the leader changes",
            .holder_pause = "holds for holders that stop when told",
            .server_crash = "holds",
            .failover = "holds for holders that stop when told",
            .partition = "holds for holders that stop when told",
            .clock_jump = "holds",
            .token = "never goes back, unless a backup is restored without --bump-revision"};
}

finding version_finding(std::string_view version) {
    const auto number = parse_version(version);
    const auto fact = "etcd " + std::string(version);
    if (is_older(number, ignores_old_leaders))
        return {grade::warning, "version", fact,
                "a leader that was cut off may end leases that are renewed elsewhere, which costs "
                "a hold; use 3.4.38, 3.5.23, 3.6.5 or later"};
    if (is_older(number, refuses_revoked_leases))
        return {grade::note, "version", fact,
                "it may renew a lease that has just ended, so Pawl reads the keys after each "
                "renewal; 3.4.38, 3.5.23, 3.6.5 and later do not"};
    return {grade::good, "version", fact, ""};
}

finding size_finding(std::int64_t size, std::int64_t in_use) {
    const auto fact = megabytes(size) + ", of which " + megabytes(in_use) + " are in use";
    if (size > (std::int64_t{1536} << 20))
        return {grade::warning, "database", fact,
                "at the quota, 2 GB by default, new clients get no lock; set "
                "--auto-compaction-retention and defragment"};
    return {grade::good, "database", fact, ""};
}

asio::awaitable<examination> examine(std::shared_ptr<lock_client> client) {
    client->throw_if_forked();
    const core::in_flight::guard operation(client->operations());
    auto& link = client->link();
    const auto limit = client->now() + std::max<duration>(client->context().try_limit, 5s);
    examination result;
    result.guarantees = guarantees();
    const auto members = read_members(co_await link.call(methods::member_list, {}, limit));
    result.findings.push_back(members_finding(members.size()));
    for (const auto& each : link.servers())
        co_await examine_member(client, each, result, limit);
    const auto alarms = read_alarms(co_await link.call(methods::alarms, alarm_request(), limit));
    result.findings.push_back(alarm_finding(alarms));
    result.findings.push_back(tls_finding(link));
    result.findings.push_back(login_finding(link));
    co_return result;
}

}  // namespace pawl::etcd
