// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock/locks.hpp"
#include "redlock/redlock_options.hpp"
#include "sentinel/monitored_master.hpp"
#include "topology/single_server.hpp"
#include "transport/reconnecting_link.hpp"
#include "transport/sentinel_options.hpp"
#include "transport/where.hpp"

#include <pawl/error.hpp>
#include <pawl/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <exception>
#include <utility>
#include <vector>

namespace pawl::redlock {
namespace {

// A replica must not vote for its master.
redis::topology_factory node_factory(const redis::options& node, const std::string& name,
                                     const backend_context& context) {
    auto settings = redis::settings_of(node);
    settings.accepts_replica = false;
    settings.min_wait_before_failure = {};  // the others may answer
    settings.without_tls = "redlock";
    settings.with_tls = "redlocks";
    settings.cluster_node_message =
        "is a node of a cluster, and cannot be a node of Redlock; give a server of its own";
    settings.sentinel_message =
        "is a Sentinel; write MASTER-NAME=HOST:PORT for the master that it names";
    auto subject = "the node " + name;
    if (std::holds_alternative<redis::sentinels>(node.where))
        return redis::monitored_master_factory(node, settings, subject, context);
    settings.replica_message = "is a replica; each node must be a server of its own";
    const auto server = redis::endpoint_of(node);
    return redis::single_server_factory(
        [settings, server, subject, context](redis::link::listener& receiver,
                                             const std::string& channel) {
            return std::make_shared<redis::reconnecting_link>(
                std::make_shared<redis::fixed_locator>(server), settings, subject, context,
                receiver, channel);
        });
}

std::vector<redis::topology_factory> factories_of(const options& node_options,
                                                  const backend_context& context) {
    const auto names = node_names(node_options);
    std::vector<redis::topology_factory> nodes;
    for (std::size_t i = 0; i < names.size(); ++i)
        nodes.push_back(node_factory(options_of_node(node_options, i), names[i], context));
    return nodes;
}

// Receives no losses: an operator's client holds no lock.
struct no_losses final : loss_listener {
    void on_loss(std::string_view, loss_reason) override {}
    void on_possible_loss() override {}
};

template <class Operation>
boost::asio::awaitable<void> operate_and_close(locks& client, const Operation& operate) {
    std::exception_ptr failure;
    try {
        co_await operate(client.set());
    } catch (...) {
        failure = std::current_exception();
    }
    co_await client.close(real_runtime().now());
    if (failure) std::rethrow_exception(failure);
}

// The coroutines of the loop use the client, so they must end before it does.
void close_and_run(boost::asio::io_context& context, const boost::asio::any_io_executor& strand,
                   locks& client) noexcept {
    boost::asio::co_spawn(strand, client.close(real_runtime().now()), boost::asio::detached);
    for (;;) {
        try {
            context.run();
            return;
        } catch (...) {}  // the exception before is reported
    }
}

// Runs the operation with a client that lives as long.
template <class Operation>
void run_with_members(const options& settings, const Operation& operate) {
    check_options(settings);
    if (!settings.fenced)
        throw error(errc::bad_option,
                    "Redlock with fenced=no has no set of nodes; see pawl doctor for its nodes.");
    boost::asio::io_context context;
    no_losses listener;
    const auto strand = boost::asio::any_io_executor(boost::asio::make_strand(context));
    const backend_context client_context{
        .strand = strand, .time = &real_runtime(), .listener = &listener, .process = {}, .log = {}};
    const auto node_options = in_order(settings);
    locks client(node_options, client_context, factories_of(node_options, client_context),
                 redis::limits());
    std::exception_ptr failure;
    boost::asio::co_spawn(strand, operate_and_close(client, operate),
                          [&failure](std::exception_ptr ended) { failure = std::move(ended); });
    try {
        context.run();
    } catch (...) {
        close_and_run(context, strand, client);
        throw;
    }
    if (failure) std::rethrow_exception(failure);
}

boost::asio::awaitable<void> read_statuses(members& set, bool rejoin,
                                           std::vector<node_status>& result) {
    if (rejoin)
        co_await set.repair_now();
    else
        co_await set.learn_standings();
    for (std::size_t i = 0; i < set.nodes().size(); ++i)
        result.push_back(
            {.name = set.nodes().name_of(i),
             .votes = set.nodes().may_vote(i),
             .objection = set.diagnosis().objection_of(i),
             .incarnation = static_cast<std::uint64_t>(set.nodes()[i].member.incarnation)});
    for (std::size_t i = 0; i < set.nodes().size(); ++i)
        if (const auto ahead = set.clocks().tokens_ahead(i); ahead.count() > 0)
            result[i].warning =
                "the tokens are " + std::to_string(ahead.count()) +
                " s ahead of the nodes' clocks, and can repeat if a node gets older "
                "data back while it runs";
    const auto trouble = set.diagnosis().trouble_of_set();
    if (trouble.empty()) co_return;
    for (std::size_t i = 0; i < set.nodes().size(); ++i)
        if (set.nodes()[i].state == standing::forgetful)
            result[i].objection = "has lost its data, or is new; " + trouble;
}

class definition final : public service::definition {
public:
    explicit definition(options node_options) : options_(std::move(node_options)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        return make_backend(options_, context, factories_of(options_, context));
    }
    std::string describe() const override { return redlock::describe(options_); }

private:
    options options_;
};

}  // namespace

service at(options settings) {
    check_options(settings);
    for (std::size_t i = 0; i < settings.nodes.size(); ++i)
        redis::check_sentinel_password(options_of_node(settings, i));
    return service(std::make_shared<definition>(in_order(std::move(settings))));
}

service at(std::string_view url) { return at(parse(url)); }

void begin_set(const options& settings, bool forget) {
    run_with_members(settings, [forget](members& set) { return set.begin_set(forget); });
}

std::vector<node_status> examine_set(const options& settings, bool rejoin) {
    std::vector<node_status> result;
    run_with_members(
        settings, [&result, rejoin](members& set) { return read_statuses(set, rejoin, result); });
    return result;
}

}  // namespace pawl::redlock
