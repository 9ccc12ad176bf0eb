// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A set of nodes and programs without users, for tests of one interleaving.
#pragma once

#include "../../kernel/trace.hpp"
#include "../../kernel/virtual_runtime.hpp"
#include "../../world/simulated_program.hpp"
#include "redlock_operator.hpp"
#include "redlock_service.hpp"

#include <pawl/client.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {

class redlock_programs {
public:
    struct request {
        std::optional<boost::system::error_code> outcome;
        diagnostics messages;
        held_lock lock;
        [[nodiscard]] bool has_failed_with(errc reason) const {
            return outcome && *outcome == make_error_code(reason);
        }
    };
    struct program : simulated_program {
        program(scheduler& loop, const node_choices& nodes, const redlock::options& options,
                const prng& random, const std::string& name, node_link_faults faults,
                duration try_limit = client_options().try_limit)
            : simulated_program(loop, name, random) {
            auto named = client_options_for(label, time);
            named.try_limit = try_limit;
            locks.emplace(process.get_executor(),
                          redlock_service(nodes, process, options, redis::limits(), faults), named);
        }
        std::vector<std::shared_ptr<request>> requests;
    };

    // A further program, whose attempts have this limit.
    program& add_program(duration try_limit) {
        return *programs.emplace_back(std::make_unique<program>(
            loop, choices_, options_, random_.fork(), "P" + std::to_string(programs.size() + 1),
            node_link_faults{}, try_limit));
    }

    // `begins_set`: as an operator, before the programs start.
    redlock_programs(std::size_t nodes, std::size_t count, network_faults faults,
                     std::uint64_t seed = 1, node_link_faults link_faults = {},
                     bool begins_set = true)
        : random_(seed) {
        options_.ttl_max = std::chrono::seconds(10);
        plan_.node_count = nodes;
        for (std::size_t i = 0; i < nodes; ++i) {
            options_.nodes.emplace_back(redis::server{.host = "node" + std::to_string(i + 1)});
            owned_.push_back(std::make_unique<simulated_network>(loop, random_.fork(), faults,
                                                                 "node" + std::to_string(i + 1)));
            networks.push_back(owned_.back().get());
            choices_.push_back([this, i](const simulated_process&) {
                return chosen_server{.network = networks[i]};
            });
        }
        if (begins_set) begin_set();
        for (std::size_t i = 0; i < count; ++i)
            programs.push_back(std::make_unique<program>(loop, choices_, options_, random_.fork(),
                                                         "P" + std::to_string(i + 1), link_faults));
    }
    ~redlock_programs() {
        for (const auto& each : programs)
            each->process.post([by = each.get()] {
                by->requests.clear();
                by->locks.reset();
            });
        loop.run_for(std::chrono::seconds(30));
    }
    redlock_programs(const redlock_programs&) = delete;
    redlock_programs& operator=(const redlock_programs&) = delete;

    // The handler of an acquire, which stores what it ends with.
    static auto store_in(program& by, const std::shared_ptr<request>& made) {
        return redirect_diagnostics(
            by.run_in_process([made](const boost::system::error_code& ec, held_lock lock) {
                made->outcome = ec;
                made->lock = std::move(lock);
            }),
            made->messages);
    }
    // The request stays in its program until `drop`.
    request& acquire(program& by, const lock_options& options, const std::string& name = "it") {
        const auto made = by.requests.emplace_back(std::make_shared<request>());
        by.process.post([&by, made, options, name] {
            by.locks->async_acquire(name, options, store_in(by, made));
        });
        return *made;
    }
    request& try_acquire(program& by, const try_options& options, const std::string& name = "it") {
        const auto made = by.requests.emplace_back(std::make_shared<request>());
        by.process.post([&by, made, options, name] {
            by.locks->async_try_acquire(name, options, store_in(by, made));
        });
        return *made;
    }
    // The same, and wait for the end.
    request& acquire_and_wait(program& by, const lock_options& options,
                              const std::string& name = "it") {
        return wait_for(acquire(by, options, name));
    }
    request& try_acquire_and_wait(program& by, const try_options& options,
                                  const std::string& name = "it") {
        return wait_for(try_acquire(by, options, name));
    }
    // Nothing if it takes longer.
    std::optional<release_result> release_and_wait(program& by, request& held,
                                                   instant longest = std::chrono::seconds(60)) {
        const auto result = std::make_shared<std::optional<release_result>>();
        by.process.post([&by, &held, result] {
            held.lock.async_release(
                by.run_in_process([result](release_result answer) { *result = answer; }));
        });
        (void)run_until([&] { return result->has_value(); }, longest);
        return *result;
    }
    [[nodiscard]] bool close(program& by, instant longest) {
        const auto is_closed = std::make_shared<bool>(false);
        by.process.post([&by, is_closed] {
            by.locks->async_close(by.run_in_process([is_closed] { *is_closed = true; }));
        });
        return run_until([&] { return *is_closed; }, longest);
    }
    void release(program& by, request& held, std::optional<release_result>& result) {
        by.process.post([&by, &held, &result] {
            held.lock.async_release(
                by.run_in_process([&result](release_result answer) { result = answer; }));
        });
    }
    void force_release(program& by, std::optional<bool>& result, const std::string& name = "it") {
        by.process.post([&by, &result, name] {
            by.locks->async_force_release(
                name,
                by.run_in_process([&result](const boost::system::error_code& ec, bool is_released) {
                    result = !ec && is_released;
                }));
        });
    }
    template <class Condition>
    [[nodiscard]] bool run_until(Condition is_met, instant longest = std::chrono::seconds(60)) {
        const auto until = loop.now() + longest;
        while (!is_met() && loop.now() < until)
            if (!loop.step()) break;
        return is_met();
    }
    // How many of the nodes that run have the lock.
    [[nodiscard]] std::size_t count_of(const std::string& name = "it") {
        std::size_t count = 0;
        for (auto* each : networks)
            if (each->is_up() &&
                each->server().execute(0, {"EXISTS", "pawl:{" + name + "}"}).number == 1)
                ++count;
        return count;
    }

    scheduler loop;
    std::vector<simulated_network*> networks;  // to which the nodes' names lead
    std::vector<std::unique_ptr<program>> programs;

private:
    request& wait_for(request& made) {
        EXPECT_TRUE(run_until([&] { return made.outcome.has_value(); }));
        return made;
    }
    void begin_set() {
        begins_ = std::make_unique<redlock_operator>(loop, choices_, options_, plan_,
                                                     random_.fork(), trace_);
        begins_->begin_set(false, [](bool) {});
        while (begins_->is_busy() && loop.step()) {}
    }

    prng random_;
    redlock::options options_;
    redlock_plan plan_;
    node_choices choices_;
    trace trace_{loop, {}};
    std::vector<std::unique_ptr<simulated_network>> owned_;
    std::unique_ptr<redlock_operator> begins_;
};

}  // namespace pawl::simulation
