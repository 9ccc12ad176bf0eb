// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The questions to the nodes: who they are, and which of them has which slot.
#include "cluster_topology.hpp"

#include "../transport/handshake.hpp"
#include "../transport/server_errors.hpp"
#include "../transport/silent_listener.hpp"

#include "../../core/util/flag_guard.hpp"
#include "../../core/util/never_destroyed.hpp"
#include "../../core/util/random.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// Of the replication id, in its hexadecimal digits. Each acquire and release has them. A promotion
// that no question noticed is missed once in 2^32 cases.
constexpr std::size_t replication_size = 8;

// The next seed is asked after this time, although the last one may still answer.
constexpr duration seed_stagger = 250ms;
constexpr std::size_t seeds_in_a_round = 3;

// Why the view of a seed is of no use, or null.
std::exception_ptr slots_objection(const std::vector<listed_node>& view, const std::string& seed) {
    const auto has_slots = [](const listed_node& each) { return !each.slots.empty(); };
    if (std::ranges::any_of(view, has_slots)) return nullptr;
    return std::make_exception_ptr(
        error(errc::unavailable,
              seed + " knows no node with slots; join it to the cluster with CLUSTER MEET and "
                     "assign the slots, or give a node of the right cluster."));
}

// A node that the client remembers may have left, and another cluster may have its address by now.
void throw_if_replaced(const std::vector<listed_node>& view, const seed& asked) {
    const auto& myself = *std::ranges::find(view, true, &listed_node::is_myself);
    if (!asked.node_id.empty() && myself.id != asked.node_id)
        throw error(errc::unavailable,
                    "The node " + text_of(asked.server) + " is another one by now");
}

// A seed has accepted the user before a node is connected.
error with_node_advice(const error& refusal) {
    std::string sentence = refusal.what();
    const bool is_about_user = sentence.find("\"WRONGPASS") != std::string::npos ||
                               sentence.find("\"NOAUTH") != std::string::npos;
    if (!is_about_user) return refusal;
    if (sentence.ends_with('.')) sentence.pop_back();
    return {refusal.reason(),
            sentence + ", and set the same user at all nodes: each node has users of its own."};
}

link::listener& nobody_listens() {
    static core::never_destroyed<silent_listener> instance;
    return instance.value;
}

}  // namespace

// A seed that does not answer must not use up the time for the others.
duration cluster_topology::question_timeout() const {
    const auto rounds = std::min<std::size_t>(1 + failed_seeds_ / seeds_.size(), 60);
    return std::min<duration>(settings_.connect_timeout, 1s * static_cast<std::int64_t>(rounds));
}

asio::awaitable<std::string> cluster_topology::query_replication_id(std::shared_ptr<link> asked,
                                                                    std::string name) const {
    const std::array<std::string_view, 2> words{"INFO", "replication"};
    const auto answer = co_await asked->exec(words, now() + question_timeout());
    throw_if_error(answer, name);
    const auto id = info_field("\n" + answer.text, "master_replid");
    if (id.size() < replication_size ||
        id.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw error(errc::protocol, name +
                                        ": an unexpected reply to INFO replication; run `pawl "
                                        "doctor` to see what kind of server this is.");
    co_return id.substr(0, replication_size);
}

asio::awaitable<std::vector<listed_node>> cluster_topology::query_view(std::shared_ptr<link> asked,
                                                                       std::string name) const {
    const std::array<std::string_view, 2> words{"CLUSTER", "NODES"};
    const auto answer = co_await asked->exec(words, now() + question_timeout());
    if (answer.type == reply::kind::error &&
        answer.text.find("cluster support disabled") != std::string::npos)
        throw error(errc::unsupported, name + " is no node of a cluster; write " +
                                           (settings_.uses_tls ? "rediss://" : "redis://") + name +
                                           " for this server alone.");
    throw_if_error(answer, name);
    auto view = parse_node_list(answer.text);
    if (view.empty())
        throw error(errc::protocol, name +
                                        ": an unexpected reply to CLUSTER NODES; run `pawl doctor` "
                                        "to see what kind of server this is.");
    co_return view;
}

asio::awaitable<void> cluster_topology::query_node(cluster_node& node) {
    const auto connection = node.connection();
    if (!connection) co_return;
    if (node.is_asked) {
        co_await wait_for_change(now() + settings_.reply_timeout);
        co_return;
    }
    {
        const core::flag_guard guard(node.is_asked);
        try {
            // In this order: an epoch that is newer than the replication id does no harm.
            auto replication = co_await query_replication_id(connection, node.server_name());
            const auto view = co_await query_view(connection, node.server_name());
            const auto myself = std::ranges::find(view, true, &listed_node::is_myself);
            if (!is_over() && node.connection() == connection && node.connected()) {
                const auto objection = find_objection(node, *myself);
                if (objection) {
                    node.refuse(objection->what(), is_final(*objection)
                                                       ? std::make_exception_ptr(*objection)
                                                       : nullptr);
                } else {
                    node.update(std::move(replication), myself->epoch);
                    adopt_view(view, node.server().host, &node);
                }
            }
        } catch (const error& failure) {
            log(node.server_name() + " does not say which node has which slot: " + failure.what());
        } catch (const std::bad_alloc&) {}
    }
    notify_changed();
}

asio::awaitable<void> cluster_topology::query_in_background(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self, cluster_node& node) {
    if (!node.is_asked) co_await query_node(node);
}

asio::awaitable<void> cluster_topology::query_seed(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self, seed asked) {
    const auto answers = seed_answers_;
    try {
        const auto connection = connect_(asked.server, nobody_listens(), "");
        closing_.push_back(connection);
        try {
            const auto view = co_await query_view(connection, text_of(asked.server));
            throw_if_replaced(view, asked);
            seed_failure_ = slots_objection(view, text_of(asked.server));
            failed_seeds_ = 0;
            ++seed_answers_;
            if (!is_over()) adopt_view(view, asked.server.host, nullptr);
        } catch (const error&) {
            // Another seed may have answered meanwhile.
            if (seed_answers_ == answers) {
                seed_failure_ = std::current_exception();
                ++failed_seeds_;
            }
        }
        asio::co_spawn(context_.strand, close_later(shared_from_this(), connection),
                       asio::detached);
    } catch (const std::exception&) {}
    --queried_seeds_;
    notify_changed();
}

// Clients with the same URL use the cluster of the host that answers first. In two clusters, two
// of them hold the same lock.
asio::awaitable<void> cluster_topology::examine_host(examination& report, net::endpoint host) {
    const auto name = text_of(host);
    const auto connection = connect_(host, nobody_listens(), "");
    closing_.push_back(connection);
    try {
        const auto view = co_await query_view(connection, name);
        const auto is_known = [this](const listed_node& each) {
            return std::ranges::count(last_view_, each.id, &listed_node::id) > 0;
        };
        if (std::ranges::none_of(view, is_known))
            report.findings.push_back(
                {finding::grade::bad, "hosts", name + " belongs to another cluster",
                 "two clients with this URL may hold the same lock, one in each cluster; name "
                 "nodes of one cluster only"});
    } catch (const error& failure) {
        report.findings.push_back({finding::grade::note, "hosts", failure.what(),
                                   "leave the host out of the URL if it is gone for good"});
    }
    asio::co_spawn(context_.strand, close_later(shared_from_this(), connection), asio::detached);
}

asio::awaitable<void> cluster_topology::examine_hosts(examination& report, time_point give_up_at) {
    for (const auto& each : settings_.hosts)
        if (now() < give_up_at) co_await examine_host(report, each);
}

void cluster_topology::begin_seed_query() {
    const auto is_known = [this](const std::string& node_id) {
        const auto known = numbers_.find(node_id);
        return known != numbers_.end() && nodes_[known->second]->connected();
    };
    ++queried_seeds_;
    try {
        asio::co_spawn(context_.strand, query_seed(shared_from_this(), seeds_.next(is_known)),
                       asio::detached);
    } catch (...) {
        --queried_seeds_;
        throw;
    }
}

// Until the next answer: a seed that does not answer delays the others by `seed_stagger` only. At
// first all hosts of the URL are asked, and later a few seeds in each round.
asio::awaitable<void> cluster_topology::query_seeds() {
    const auto answers = seed_answers_;
    const auto count = answers == 0 ? seeds_.host_count() : seeds_in_a_round;
    for (std::size_t i = 0; i < count && seed_answers_ == answers && !is_over(); ++i) {
        begin_seed_query();
        co_await wait_for_change(now() + seed_stagger);
    }
    while (queried_seeds_ > 0 && seed_answers_ == answers && !is_over())
        co_await wait_for_change(now() + question_timeout());
}

asio::awaitable<void> cluster_topology::close_later(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self, std::shared_ptr<link> closed) {
    co_await closed->close(is_closing_ ? now() : now() + settings_.reply_timeout);
    // The last requests may have failed just now, and end when their coroutines resume.
    core::wakeup resumed(*context_.time, context_.strand);
    do
        co_await resumed.wait_until(now() + 1s);
    while (closed->is_in_use());
    std::erase(closing_, closed);
}

asio::awaitable<void> cluster_topology::probe(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self, cluster_node& node,
    std::shared_ptr<link> connection) {
    const core::flag_guard guard(node.is_probed);
    const std::array<std::string_view, 1> words{"PING"};
    try {
        co_await connection->exec(words, now() + settings_.connect_timeout);
        // The connection may have been confirmed in vain: ask again.
        if (node.connection() == connection && !node.connected()) on_connection(node);
    } catch (const error& failure) {
        if (node.connection() == connection && is_final(failure)) {
            const auto explained = with_node_advice(failure);
            node.refuse(explained.what(), std::make_exception_ptr(explained));
        }
    } catch (const std::bad_alloc&) {}
    notify_changed();
}

std::optional<error> cluster_topology::find_objection(const cluster_node& node,
                                                      const listed_node& myself) {
    const auto name = "The node " + node.server_name();
    if (myself.id != node.id()) return error(errc::unavailable, name + " is another one by now");
    if (!myself.is_master) return error(errc::unavailable, name + " is a replica by now");
    if (myself.epoch <= max_epoch) return std::nullopt;
    return error(errc::unsupported, name + " has the config epoch " + std::to_string(myself.epoch) +
                                        ", and a token has room for 65535; make a new cluster.");
}

// The node itself says which node it is: another one may have its address by now. And only the
// node knows its present epoch for certain.
asio::awaitable<void> cluster_topology::identify(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self, cluster_node& node,
    std::shared_ptr<link> connection) {
    if (node.is_asked) co_return;
    const core::flag_guard guard(node.is_asked);
    const auto number = connection->current().connection_number;
    const auto is_present = [&] {
        return !is_over() && node.connection() == connection && connection->connected() &&
               connection->current().connection_number == number;
    };
    try {
        auto replication = co_await query_replication_id(connection, node.server_name());
        const auto view = co_await query_view(connection, node.server_name());
        if (!is_present()) co_return;
        const auto myself = std::ranges::find(view, true, &listed_node::is_myself);
        const auto objection = find_objection(node, *myself);
        if (objection) throw *objection;
        adopt_view(view, node.server().host, &node);
        if (is_present()) node.accept(std::move(replication), myself->epoch);
    } catch (const error& failure) {
        if (is_present())
            node.refuse(failure.what(), is_final(failure) ? std::current_exception() : nullptr);
    } catch (const std::bad_alloc&) {}
    notify_changed();
    if (!node.connected()) ask_again();
}

void cluster_topology::start() noexcept {
    if (is_running_ || is_over()) return;
    is_running_ = true;
    try {
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    } catch (...) {
        is_running_ = false;
    }
}

// While something is missing, `run` asks without being told.
void cluster_topology::ask_again() noexcept {
    if (is_idle_) ask_again_.notify();
}

bool cluster_topology::all_connected() const noexcept {
    return !links_.empty() &&
           std::ranges::all_of(links_, [](const link* each) { return each->connected(); });
}

asio::awaitable<void> cluster_topology::run(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self) {
    const auto& bounds = settings_.bounds;
    auto pause = bounds.shortest_pause;
    while (!is_over()) {
        // However the questions end, others follow.
        try {
            co_await find_servers();
        } catch (const std::exception& failure) {
            log(std::string("the nodes could not be asked: ") + failure.what());
        }
        if (is_over()) break;
        if (all_connected()) {
            pause = bounds.shortest_pause;
            const core::flag_guard idle(is_idle_);
            co_await ask_again_.wait_until(now() + core::random_between(*context_.time,
                                                                        bounds.view_interval / 2,
                                                                        bounds.view_interval));
        } else {
            co_await ask_again_.wait_until(now() +
                                           core::random_between(*context_.time, pause / 2, pause));
            pause = std::min(pause * 2, bounds.longest_pause);
        }
    }
    is_running_ = false;
}

// Asks every node that answers, at the same time; or if none does, the next seeds. A node that
// answers may be cut off from the others and have an old view, so while some do not answer, a seed
// is asked now and then.
asio::awaitable<void> cluster_topology::find_servers() {
    bool has_asked = false;
    for (auto* each : std::vector(links_)) {
        auto& node = static_cast<cluster_node&>(*each);
        if (!node.connected()) {
            on_missing_connection(node);
            if (node.connection() && node.connection()->connected()) on_connection(node);
            continue;
        }
        has_asked = true;
        asio::co_spawn(context_.strand, query_in_background(shared_from_this(), node),
                       asio::detached);
    }
    if (!has_asked) {
        co_await query_seeds();
    } else if (!all_connected() && now() >= next_seed_at_ && queried_seeds_ == 0) {
        const auto interval = settings_.bounds.view_interval;
        next_seed_at_ = now() + core::random_between(*context_.time, interval / 2, interval);
        begin_seed_query();
    }
}

}  // namespace pawl::redis
