// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The worker and the notifier of a simulated program: what the threads and the sockets of a real
// one do, when the machine of the scenario decides.
#pragma once

#include "host.hpp"

#include "sqlite/worker.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <string>

namespace pawl::simulation {

class simulated_worker final : public sqlite::worker {
public:
    simulated_worker(host_program& program, boost::asio::any_io_executor strand,
                     std::function<void()> on_stop);
    ~simulated_worker() override;

    boost::asio::any_io_executor executor() override { return program_.process.get_executor(); }
    bool is_stopped() const noexcept override { return is_stopped_; }
    void stop() noexcept override;
    // SIGKILL. The callers stay until `stop`.
    void kill();

private:
    void start(std::unique_ptr<job> next) override;
    void begin_next();
    void run_first();
    void complete();
    // In the program, unless the worker has ended by then.
    void call_after(instant delay, void (simulated_worker::*function)());

    host_program& program_;
    const boost::asio::any_io_executor strand_;
    const std::function<void()> on_stop_;
    std::deque<std::unique_ptr<job>> waiting_;
    std::unique_ptr<job> finished_;
    bool is_busy_ = false, is_stopped_ = false;
    std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

class simulated_notifier final : public sqlite::notifier {
public:
    simulated_notifier(host_program& program,
                       std::function<void(sqlite::notification)> on_notification);
    ~simulated_notifier() override;

    const std::string& address() const noexcept override { return address_; }
    presence presence_of(std::string_view address) override;
    void send(std::string_view address, const sqlite::notification& message) override;

    [[nodiscard]] host_program& program() const noexcept { return program_; }
    void receive(const sqlite::notification& message);

private:
    host_program& program_;
    const std::function<void(sqlite::notification)> on_notification_;
    const std::string address_;
};

}  // namespace pawl::simulation
