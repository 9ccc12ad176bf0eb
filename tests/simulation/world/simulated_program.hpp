// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A simulated program with one client: of a world, or for tests of one interleaving, without users
// or with one.
#pragma once

#include "../bugs/faulty_backend.hpp"
#include "../kernel/virtual_runtime.hpp"

#include <pawl/client.hpp>
#include <pawl/held_lock.hpp>
#include <pawl/redis.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {

// The identity that others see.
inline client_options client_options_for(const std::string& label, runtime& time) {
    client_options options;
    options.command = label;
    options.pid = 1;
    options.time = &time;
    return options;
}

struct simulated_program {
    // Its clock shows `start` at first and runs `rate` times as fast as the scenario's time.
    simulated_program(scheduler& loop, std::string name, time_point start, double rate,
                      const prng& random)
        : label(std::move(name)), process(loop, start, rate), time(process, random) {}
    simulated_program(scheduler& loop, std::string name, const prng& random)
        : simulated_program(loop, std::move(name), time_point(std::chrono::hours(1)), 1, random) {}
    void connect(const service& to) {
        const auto named = client_options_for(label, time);
        locks.emplace(process.get_executor(), to, named);
    }
    // The handler, in the process.
    template <class Handler>
    [[nodiscard]] auto run_in_process(Handler handler) {
        return boost::asio::bind_executor(process.get_executor(), std::move(handler));
    }

    const std::string label;
    simulated_process process;
    virtual_runtime time;
    std::optional<client> locks;
};

struct single_client_process : simulated_program {
    single_client_process(scheduler& loop, simulated_network& network,
                          const redis::options& options, const prng& random,
                          const redis::limits& limits = {}, injected_bug bug = injected_bug::none)
        : single_client_process(loop, std::vector{&network}, options, random, limits, bug) {}
    // The servers share the names: see spread_servers.hpp.
    single_client_process(scheduler& loop, std::vector<simulated_network*> servers,
                          const redis::options& options, const prng& random,
                          const redis::limits& limits = {}, injected_bug bug = injected_bug::none)
        : simulated_program(loop, "test", random) {
        connect(simulated_service(std::move(servers), process, options, limits, bug));
    }
};

// All functions may be called outside of the process.
struct single_user : single_client_process {
    using single_client_process::single_client_process;

    void acquire(const lock_options& options, const std::string& name = "it") {
        process.post([this, options, name] {
            auto handler = [this](const boost::system::error_code& ec, held_lock lock) {
                failure = ec;
                if (!ec) held = std::move(lock);
            };
            locks->async_acquire(name, options,
                                 boost::asio::bind_cancellation_slot(
                                     cancellation.slot(), run_in_process(std::move(handler))));
        });
    }
    void give_up() {
        process.post([this] { cancellation.emit(boost::asio::cancellation_type::terminal); });
    }
    void release() {
        process.post([this] { held = {}; });
    }
    // The client ends, too.
    void close() {
        process.resume();
        process.post([this] {
            held = {};
            locks.reset();
        });
    }
    boost::asio::cancellation_signal cancellation;
    held_lock held;
    boost::system::error_code failure;  // of the last acquire
};

}  // namespace pawl::simulation
