// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The questions to the nodes: who they are, and which of them has which slot.
#include "cluster_topology.hpp"
#include "node_questions.hpp"

#include "../transport/link.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/back_off.hpp"
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

// The next seed is asked after this time, although the last one may still answer.
constexpr duration seed_stagger = 250ms;

link::listener& nobody_listens() {
    static core::never_destroyed<silent_listener> instance;
    return instance.value;
}

}  // namespace

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
            auto replication = co_await query_replication_id(connection, node.server_name(),
                                                             now() + seeds_.question_timeout());
            const auto view =
                co_await query_view(connection, node.server_name(), settings_.uses_tls,
                                    now() + seeds_.question_timeout());
            const auto& myself = find_myself(view);
            if (!is_over() && node.connection() == connection && node.connected()) {
                const auto objection = find_objection(node.id(), node.server_name(), myself);
                if (objection) {
                    node.refuse(objection->what(), is_final(*objection)
                                                       ? std::make_exception_ptr(*objection)
                                                       : nullptr);
                } else {
                    node.update(std::move(replication), myself.epoch);
                    adopt_view(view, node.server().host, &node);
                }
            }
        } catch (const error& failure) {
            log(node.server_name() + " does not say which node has which slot: " + failure.what());
        } catch (const std::bad_alloc&) {}
    }
    changes_.notify_all();
}

asio::awaitable<void> cluster_topology::query_in_background(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self, cluster_node& node) {
    if (!node.is_asked) co_await query_node(node);
}

asio::awaitable<void> cluster_topology::query_seed(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self, seed asked) {
    const auto answers = seeds_.answers();
    try {
        const auto connection = connect_(asked.server, nobody_listens(), "");
        closing_.push_back(connection);
        try {
            const auto view =
                co_await query_view(connection, text_of(asked.server), settings_.uses_tls,
                                    now() + seeds_.question_timeout());
            throw_if_replaced(view, asked);
            seeds_.add_answer(slots_objection(view, text_of(asked.server)));
            if (!is_over()) adopt_view(view, asked.server.host, nullptr);
        } catch (const error&) {
            seeds_.add_failure(std::current_exception(), answers);
        }
        asio::co_spawn(context_.strand, close_later(shared_from_this(), connection),
                       asio::detached);
    } catch (const std::exception&) {}
    seeds_.end();
    changes_.notify_all();
}

// Clients with the same URL use the cluster of the host that answers first. In two clusters, two
// of them hold the same lock.
asio::awaitable<void> cluster_topology::examine_hosts(examination& report, time_point give_up_at) {
    for (const auto& host : settings_.hosts) {
        if (now() >= give_up_at) co_return;
        const auto name = text_of(host);
        const auto connection = connect_(host, nobody_listens(), "");
        closing_.push_back(connection);
        try {
            const auto view = co_await query_view(connection, name, settings_.uses_tls,
                                                  now() + seeds_.question_timeout());
            if (!view_.has_any_node(view))
                report.findings.push_back(
                    {finding::grade::bad, "hosts", name + " belongs to another cluster",
                     "two clients with this URL may hold the same lock, one in each cluster; name "
                     "nodes of one cluster only"});
        } catch (const error& failure) {
            report.findings.push_back({finding::grade::note, "hosts", failure.what(),
                                       "leave the host out of the URL if it is gone for good"});
        }
        asio::co_spawn(context_.strand, close_later(shared_from_this(), connection),
                       asio::detached);
    }
}

void cluster_topology::begin_seed_query() {
    const auto is_known = [this](const std::string& node_id) {
        const auto known = nodes_.number_of(node_id);
        return known && nodes_.at(*known).connected();
    };
    seeds_.begin();
    try {
        asio::co_spawn(context_.strand, query_seed(shared_from_this(), seeds_.next(is_known)),
                       asio::detached);
    } catch (...) {
        seeds_.end();
        throw;
    }
}

// Until the next answer: a seed that does not answer delays the others by `seed_stagger` only. At
// first all hosts of the URL are asked, and later a few seeds in each round.
asio::awaitable<void> cluster_topology::query_seeds() {
    const auto answers = seeds_.answers();
    const auto count = seeds_.round_size();
    for (std::size_t i = 0; i < count && seeds_.answers() == answers && !is_over(); ++i) {
        begin_seed_query();
        co_await wait_for_change(now() + seed_stagger);
    }
    while (seeds_.is_asking() && seeds_.answers() == answers && !is_over())
        co_await wait_for_change(now() + seeds_.question_timeout());
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
    changes_.notify_all();
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
        auto replication = co_await query_replication_id(connection, node.server_name(),
                                                         now() + seeds_.question_timeout());
        const auto view = co_await query_view(connection, node.server_name(), settings_.uses_tls,
                                              now() + seeds_.question_timeout());
        if (!is_present()) co_return;
        const auto& myself = find_myself(view);
        const auto objection = find_objection(node.id(), node.server_name(), myself);
        if (objection) throw *objection;
        adopt_view(view, node.server().host, &node);
        if (is_present()) node.accept(std::move(replication), myself.epoch);
    } catch (const error& failure) {
        if (is_present())
            node.refuse(failure.what(), is_final(failure) ? std::current_exception() : nullptr);
    } catch (const std::bad_alloc&) {}
    changes_.notify_all();
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

asio::awaitable<void> cluster_topology::run(
    [[maybe_unused]] std::shared_ptr<cluster_topology> self) {
    const auto& bounds = settings_.bounds;
    core::back_off pauses(time(),
                          {.first = bounds.shortest_pause, .longest = bounds.longest_pause});
    while (!is_over()) {
        // However the questions end, others follow.
        try {
            co_await find_servers();
        } catch (const std::exception& failure) {
            log(std::string("the nodes could not be asked: ") + failure.what());
        }
        if (is_over()) break;
        if (nodes_.all_connected()) {
            pauses.reset();
            const core::flag_guard idle(is_idle_);
            co_await ask_again_.wait_until(now() + core::random_between(*context_.time,
                                                                        bounds.view_interval / 2,
                                                                        bounds.view_interval));
        } else {
            co_await ask_again_.wait_until(now() + pauses.next_pause());
        }
    }
    is_running_ = false;
}

// Asks every node that answers, at the same time; or if none does, the next seeds. A node that
// answers may be cut off from the others and have an old view, so while some do not answer, a seed
// is asked now and then.
asio::awaitable<void> cluster_topology::find_servers() {
    bool has_asked = false;
    for (auto* each : std::vector(links().begin(), links().end())) {
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
    } else if (!nodes_.all_connected() && now() >= next_seed_at_ && !seeds_.is_asking()) {
        const auto interval = settings_.bounds.view_interval;
        next_seed_at_ = now() + core::random_between(*context_.time, interval / 2, interval);
        begin_seed_query();
    }
}

}  // namespace pawl::redis
