// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "findings.hpp"

using namespace std::chrono_literals;

namespace pawl::sql {

using grade = finding::grade;

finding tls_finding(bool has_tls, bool is_remote, std::string_view advised) {
    if (has_tls) return {grade::good, "TLS", "on", ""};
    if (!is_remote) return {grade::good, "TLS", "off, on one host", ""};
    return {grade::warning, "TLS", "off",
            "others in the network can read and change what is sent; use " + std::string(advised)};
}

finding clock_finding(duration offset) {
    const auto ms = offset / 1ms;
    const auto fact = std::to_string(ms < 0 ? -ms : ms) + " ms " +
                      (ms < 0 ? "behind this host's" : "ahead of this host's");
    if (ms > -1000 && ms < 1000) return {grade::good, "server's clock", fact, ""};
    return {grade::note, "server's clock", fact,
            "leases count on the server's clock only; still, one of the two clocks is wrong"};
}

void add_pause(examination& result, duration hold_off) {
    if (hold_off <= duration{}) return;
    result.findings.push_back(
        {grade::warning, "pause",
         "nothing is granted for another " + std::to_string((hold_off + 999ms) / 1s) + " s",
         "there was a failover, and holds that this server does not know may be left; wait"});
}

void set_server(examination& result, const std::string& name, const std::string& role) {
    result.nodes = {{name, role}};
    for (auto& each : result.findings)
        each.node = name;
}

}  // namespace pawl::sql
