// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What operators do with a set of nodes. Each operation has a client of its own, since a set is
// examined by new connections.
#include "locks.hpp"

#include "../../core/async/async_operation.hpp"
#include "../../core/blocking/access.hpp"
#include "../../core/blocking/blocking_wait.hpp"

#include <pawl/blocking/redlock_administration.hpp>
#include <pawl/redlock_administration.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::redlock {
namespace {

template <class Result>
using work = asio::awaitable<Result> (*)(core::engine& client, bool flag);

members& set_of(core::engine& client) { return static_cast<locks&>(client.live_backend()).set(); }

// `core::start_operation` needs a coroutine with a result.
asio::awaitable<bool> begin(core::engine& client, bool forget) {
    co_await set_of(client).begin_set(forget);
    co_return true;
}

asio::awaitable<std::vector<node_status>> examine(core::engine& client, bool rejoin) {
    auto& set = set_of(client);
    if (rejoin)
        co_await set.repair_now();
    else
        co_await set.learn_standings();
    std::vector<node_status> result;
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
    for (std::size_t i = 0; !trouble.empty() && i < set.nodes().size(); ++i)
        if (set.nodes()[i].state == standing::forgetful)
            result[i].objection = "has lost its data, or is new; " + trouble;
    co_return result;
}

// A request that was cancelled looks like a node without an answer.
template <class Result>
asio::awaitable<Result> unless_cancelled(asio::awaitable<Result> operation) {
    std::exception_ptr failure;
    try {
        co_return co_await std::move(operation);
    } catch (...) {
        failure = std::current_exception();
    }
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        throw boost::system::system_error(asio::error::operation_aborted);
    std::rethrow_exception(failure);
}

// There is no hold whose release the client would wait for.
client_options options_of_client() {
    client_options options;
    options.drain = duration::zero();
    return options;
}

// Calls the handler when the client is closed.
template <class Result, class... Results>
void start(detail::operation_handler<Results...> handler, const detail::redlock_nodes& source,
           work<Result> operation, bool flag) {
    core::engine::ptr client;
    try {
        client = core::engine::make(source.executor, source.nodes, options_of_client());
    } catch (const error& failure) {
        const detail::outcome ended{failure.code(), failure.what()};
        asio::post(source.executor, asio::append(std::move(handler), ended, Results{}...));
        return;
    }
    const auto slot = asio::get_associated_cancellation_slot(handler);
    auto close = [client, handler = std::move(handler)](detail::outcome ended,
                                                        Results... results) mutable {
        client->close([executor = client->handler_executor(),
                       completion = asio::append(std::move(handler), std::move(ended),
                                                 std::move(results)...)]() mutable {
            asio::post(executor, std::move(completion));
        });
    };
    core::start_operation(client, unless_cancelled(operation(*client, flag)),
                          detail::operation_handler<Results...>(
                              asio::bind_cancellation_slot(slot, std::move(close))));
}

template <class Result>
Result run(const service& nodes, work<Result> operation, bool flag, const std::stop_token& cancel) {
    const blocking::client client(nodes, options_of_client());
    const auto& loop = blocking::access::loop_of(client);
    return blocking::run_blocking(*loop, unless_cancelled(operation(*loop->engine, flag)), cancel);
}

}  // namespace
}  // namespace pawl::redlock

namespace pawl::detail {

service administered_nodes(const redlock::options& settings) {
    auto nodes = redlock::at(settings);
    if (!settings.fenced)
        throw error(errc::bad_option,
                    "Redlock with fenced=no has no set of nodes; see pawl doctor for its nodes.");
    return nodes;
}

void start_begin_set(operation_handler<> handler, redlock_nodes source, bool forget) {
    redlock::start<bool>(std::move(handler), source, redlock::begin, forget);
}

void start_examine_set(operation_handler<std::vector<redlock::node_status>> handler,
                       redlock_nodes source, bool rejoin) {
    redlock::start<std::vector<redlock::node_status>>(std::move(handler), source, redlock::examine,
                                                      rejoin);
}

}  // namespace pawl::detail

namespace pawl::blocking {

redlock_administration::redlock_administration(const redlock::options& settings)
    : nodes_(detail::administered_nodes(settings)) {}

void redlock_administration::begin_set(bool forget, std::stop_token cancel) const {
    static_cast<void>(redlock::run(nodes_, redlock::begin, forget, cancel));
}

std::vector<redlock::node_status> redlock_administration::examine(std::stop_token cancel) const {
    return redlock::run(nodes_, redlock::examine, false, cancel);
}

std::vector<redlock::node_status> redlock_administration::rejoin(std::stop_token cancel) const {
    return redlock::run(nodes_, redlock::examine, true, cancel);
}

}  // namespace pawl::blocking
