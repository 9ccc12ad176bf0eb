// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "monitored_master.hpp"

#include "../transport/options.hpp"

#include "../../core/util/plural.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace asio = boost::asio;
using grade = pawl::finding::grade;

namespace pawl::redis {
namespace {

std::shared_ptr<link> connect_sentinel(const connection_settings& settings,
                                       const backend_context& context, const net::endpoint& server,
                                       link::listener& receiver, const std::string& channel) {
    auto uncounted = context;  // questions to Sentinels are not requests for locks
    uncounted.counts = std::make_shared<counters>();
    return std::make_shared<reconnecting_link>(std::make_shared<fixed_locator>(server), settings,
                                               "the Sentinel " + text_of(server), uncounted,
                                               receiver, channel);
}

// A failover begins when so many Sentinels do not reach the master, and then needs the votes of a
// majority.
void judge_quorum(finding& view, std::size_t quorum, std::size_t sentinels) {
    const auto majority = sentinels / 2 + 1;
    if (quorum == majority) return;
    const auto command = "set it to " + std::to_string(majority) + " (SENTINEL SET)";
    view.level = grade::warning;
    if (quorum > sentinels)
        view.advice = "the quorum is above the number of Sentinels, so no failover happens; ";
    else if (quorum > majority)
        view.advice = "the quorum is above a majority, so fewer Sentinels may be away; ";
    else
        view.advice =
            "the quorum is below a majority, so a few isolated Sentinels suspect the "
            "master; ";
    view.advice += command;
}

finding view_finding(const sentinel_locator::status& each) {
    finding result{grade::good, "sentinel", "", "", each.node};
    if (!each.view) {
        result.level = grade::warning;
        result.fact = each.failure.empty() ? "no answer" : each.failure;
        result.advice =
            each.advice.empty() ? "see that it runs, and that this host can reach it" : each.advice;
        return result;
    }
    const auto known = each.view->peers.size() + 1;
    result.fact = "names " + text_of(each.view->master.server) + ", epoch " +
                  std::to_string(each.view->master.epoch) + ", " +
                  core::plural(each.view->replicas, "replica") + ", quorum " +
                  std::to_string(each.view->quorum) + " of " + std::to_string(known);
    if (each.view->is_down) {
        result.level = grade::warning;
        result.fact += ", which it cannot reach";
        result.advice = "a failover may be near; see why the master does not answer this Sentinel";
    } else {
        judge_quorum(result, each.view->quorum, known);
    }
    return result;
}

finding count_finding(std::size_t members_count, std::size_t needed, std::size_t answering) {
    if (members_count == 0)
        return {grade::bad, "sentinels", "none of them names a master",
                "a client that has no connection yet cannot find the master; see what each of "
                "them says"};
    finding result{
        grade::good, "sentinels",
        core::plural(members_count, "Sentinel") + ", " + std::to_string(needed) + " must agree",
        ""};
    if (answering < needed) {
        result.level = grade::bad;
        result.fact += ", but only " + std::to_string(answering) + " can be asked";
        result.advice =
            "a client that has no connection yet cannot find the master; see each of them below";
    } else if (members_count < 3) {
        result.level = grade::warning;
        result.advice = "with fewer than three, no failover happens while one is away; run three";
    } else if (members_count % 2 == 0) {
        result.level = grade::warning;
        result.advice =
            "an even number tolerates no more failures than one Sentinel fewer; run an "
            "odd number";
    }
    return result;
}

}  // namespace

monitored_master::monitored_master(std::shared_ptr<sentinel_locator> sentinels,
                                   std::shared_ptr<reconnecting_link> master)
    : sentinels_(std::move(sentinels)), master_(std::move(master)), link_(master_.get()) {
    sentinels_->on_moved([weak_master = std::weak_ptr(master_)](std::string reason) {
        if (const auto alive = weak_master.lock()) alive->reconnect(std::move(reason));
    });
}

asio::awaitable<void> monitored_master::close(time_point give_up_at) {
    co_await topology::close(give_up_at);
    co_await sentinels_->close(give_up_at);
}

void monitored_master::add_findings(examination& report) const {
    std::set<std::string> masters;
    std::set<std::string> ids;
    std::size_t answering = 0;
    const auto statuses = sentinels_->statuses();
    for (const auto& each : statuses) {
        // A server that is mistaken for a Sentinel has a row already.
        if (std::ranges::find(report.nodes, each.node, &examined_node::name) == report.nodes.end())
            report.nodes.push_back({each.node, "sentinel"});
        report.findings.push_back(view_finding(each));
        if (!each.view) continue;
        ++answering;
        masters.insert(text_of(each.view->master.server));
        ids.insert(each.view->id);
        for (const auto& peer : each.view->peers)
            ids.insert(peer.id);
    }
    report.findings.push_back(count_finding(ids.size(), sentinels_->needed_votes(), answering));
    if (masters.size() > 1)
        report.findings.push_back({grade::warning, "sentinels", "they name different masters",
                                   "a failover is in progress, or a Sentinel is isolated; if it "
                                   "stays so, see its log"});
}

topology_factory monitored_master_factory(const options& server_options,
                                          const connection_settings& settings,
                                          const std::string& subject,
                                          const backend_context& context) {
    return [=](link::listener& receiver, const std::string& channel) {
        const sentinel_link_factory connect = [to_sentinels = sentinel_settings_of(server_options),
                                               context](const net::endpoint& server,
                                                        link::listener& sentinel_receiver,
                                                        const std::string& sentinel_channel) {
            return connect_sentinel(to_sentinels, context, server, sentinel_receiver,
                                    sentinel_channel);
        };
        auto sentinels = std::make_shared<sentinel_locator>(server_options, context, connect);
        auto master = std::make_shared<reconnecting_link>(sentinels, settings, subject, context,
                                                          receiver, channel);
        return std::make_shared<monitored_master>(std::move(sentinels), std::move(master));
    };
}

}  // namespace pawl::redis
