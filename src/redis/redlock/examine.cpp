// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "independent_servers.hpp"
#include "node_failures.hpp"
#include "redlock_options.hpp"

#include "../doctor/assessment.hpp"
#include "../doctor/doctor.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace asio = boost::asio;
using grade = pawl::finding::grade;

namespace pawl::redlock {
namespace {

// The protocol is the same in all of them.
finding versions_finding(const std::set<std::string>& versions) {
    std::string text;
    for (const auto& each : versions)
        text += (text.empty() ? "" : ", ") + each;
    return {grade::note, "versions", text,
            "the nodes have different versions, as during an update; update the others, one node "
            "at a time, and wait until it votes again"};
}

finding tokens_finding(std::chrono::seconds ahead) {
    return {
        grade::warning, "tokens", std::to_string(ahead.count()) + " s ahead of the nodes' clocks",
        "until the clocks reach them, tokens can repeat after a node gets older data back while "
        "it runs; never do that to a node"};
}

}  // namespace

asio::awaitable<examination> locks::examine() {
    examination report;
    static_cast<void>(co_await members_.wait_for_readable(client_.reply_deadline()));
    std::size_t voters = 0;
    node_failures failures(nodes_.size());
    std::set<std::string> versions;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& name = nodes_.name_of(i);
        auto row = name;
        const auto objection = members_.diagnosis().objection_of(i);
        if (objection.empty()) ++voters;
        const auto& session = nodes_.link_of(i).current();
        if (nodes_.link_of(i).connected() && !session.version.empty())
            versions.insert(session.server + " " + session.version);
        try {
            const auto of_this_node = options_of_node(options_, i);
            const auto server = servers_->part_of(nodes_.link_of(i));
            auto of_node = co_await redis::examine_servers(*server, *context_.time, of_this_node);
            // A master that Sentinels name has a row with its address.
            if (is_monitored(options_.nodes[i]) && !of_node.nodes.empty())
                row = of_node.nodes.front().name;
            for (auto& each : of_node.findings) {
                // With fencing, a node that has restarted, or failed over, waits, whatever it has
                // stored.
                if (set_.is_fenced && (each.topic == "persistence" || each.topic == "replicas"))
                    continue;
                if (each.node.empty() || each.node == name) each.node = row;
                report.findings.push_back(std::move(each));
            }
            report.nodes.insert(report.nodes.end(), of_node.nodes.begin(), of_node.nodes.end());
        } catch (const error& e) {
            failures.add(i, e);
            report.nodes.push_back({name, ""});
            report.findings.push_back(
                {grade::bad, "connection", e.what(), "see that the server runs", name});
            continue;
        }
        report.findings.push_back({objection.empty() ? grade::good : grade::warning, "membership",
                                   objection.empty() ? "votes" : objection, "", row});
    }
    if (failures.count() == nodes_.size())
        throw error(failures.lasting_reason().value_or(errc::no_quorum),
                    "No node can be examined: " + failures.text(nodes_.names()) + ".");
    if (versions.size() > 1) report.findings.push_back(versions_finding(versions));
    std::chrono::seconds tokens_ahead{};
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        tokens_ahead = std::max(tokens_ahead, members_.clocks().tokens_ahead(i));
    if (tokens_ahead.count() > 0) report.findings.push_back(tokens_finding(tokens_ahead));
    const bool has_majority = voters >= nodes_.majority();
    auto trouble = has_majority ? std::string() : members_.diagnosis().trouble_of_set();
    if (!has_majority && trouble.empty())
        trouble = "no lock can be acquired; see what each node says";
    report.findings.push_back({has_majority ? grade::good : grade::bad, "majority",
                               std::to_string(voters) + " of " + std::to_string(nodes_.size()) +
                                   " nodes vote, " + std::to_string(nodes_.majority()) +
                                   " are needed",
                               trouble});
    const bool has_sentinels = std::ranges::any_of(options_.nodes, is_monitored);
    report.guarantees = redis::guarantees_of_redlock(nodes_.size(), set_.is_fenced, has_sentinels);
    co_return report;
}

}  // namespace pawl::redlock
