// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A program that uses the async API and ends its objects at any time, in any order.
#pragma once

#include "choices.hpp"

#include <pawl/client.hpp>
#include <pawl/election.hpp>
#include <pawl/latch.hpp>
#include <pawl/lock_owner.hpp>
#include <pawl/semaphore.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lifetimes {

// Freezes, ends or starts a server of the service, or does nothing.
using disturbance = std::function<void(choices&)>;

class program {
public:
    // With `loop_threads` of 0, the program itself runs the event loop between its actions.
    program(pawl::service tested, disturbance disturb, std::uint64_t seed,
            std::size_t loop_threads);
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    ~program();

    void act(std::size_t actions);
    // Destroys the event loop, the clients, the handles and everything else, in random order.
    void end();
    // True if nothing of the clients is left: no coroutine, handler or engine.
    [[nodiscard]] bool left_nothing() const { return mark_.use_count() == 1; }

private:
    using mark = std::shared_ptr<int>;
    // A handle that the callback of its own loss destroys.
    class self_destroying_handle;

    void make_client();
    void act_once();
    void request();
    void request_hold(pawl::client& client, const std::string& name);
    void request_shared_object(pawl::client& client, const std::string& name);
    void use_handle();
    void start_coroutine();
    void turn_loop();
    void stop_threads();
    [[nodiscard]] pawl::lock_options any_options();
    // A slot of a signal of its own, in half of the cases.
    [[nodiscard]] boost::asio::cancellation_slot any_slot();
    // A handler that keeps the handle.
    [[nodiscard]] auto keeping();
    // A handler that ignores its arguments.
    [[nodiscard]] auto ignoring();
    void keep(pawl::held_lock received);
    [[nodiscard]] std::optional<pawl::held_lock> take_handle();

    choices choices_;
    const pawl::service tested_;
    const disturbance disturb_;
    const mark mark_ = std::make_shared<int>(0);  // clients, coroutines and handlers have copies
    std::optional<boost::asio::io_context> loop_;
    std::vector<std::thread> loop_threads_;
    std::mutex mutex_;  // of `handles_`, which handlers on any thread fill
    std::vector<pawl::held_lock> handles_;
    std::vector<std::unique_ptr<pawl::client>> clients_;
    std::vector<pawl::lock_owner> owners_;
    std::vector<std::unique_ptr<boost::asio::cancellation_signal>> signals_;
    std::vector<std::unique_ptr<self_destroying_handle>> self_destroying_;
    std::vector<std::thread> destroyers_;  // threads that destroy a handle
};

}  // namespace lifetimes
