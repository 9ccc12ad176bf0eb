// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_operator.hpp"

#include <redis/redlock/locks.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>

#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {

redlock_operator::redlock_operator(scheduler& loop, node_choices nodes, redlock::options options,
                                   const redlock_plan& scenario_plan, prng random, trace& log)
    : process_(loop, time_point(1h), 1.0),
      time_(process_, random),
      nodes_(std::move(nodes)),
      options_(std::move(options)),
      plan_(scenario_plan),
      trace_(log) {}

void redlock_operator::begin_set(bool forget, callback ended) {
    if (std::exchange(is_busy_, true)) return;
    process_.post([this, forget, ended = std::move(ended)]() mutable {
        asio::co_spawn(process_.get_executor(), run(forget, std::move(ended)), asio::detached);
    });
}

asio::awaitable<void> redlock_operator::run(bool forget, callback ended) {
    const bool has_succeeded = co_await operate(forget);
    is_busy_ = false;
    ended(has_succeeded);
}

asio::awaitable<bool> redlock_operator::operate(bool forget) {
    const asio::any_io_executor strand = asio::make_strand(process_.get_executor());
    backend_context context{
        .strand = strand, .time = &time_, .listener = &listener_, .process = {}, .log = {}};
    redlock::locks client(options_, context,
                          node_factories(nodes_, process_, context, options_, {.bug = plan_.bug}),
                          redis::limits());
    bool has_succeeded = true;
    try {
        co_await client.set().begin_set(forget);
    } catch (const error& e) {
        trace_.write(std::string("the operator's command failed: ") + e.what());
        has_succeeded = false;
    }
    co_await client.close(time_.now());
    co_return has_succeeded;
}

}  // namespace pawl::simulation
