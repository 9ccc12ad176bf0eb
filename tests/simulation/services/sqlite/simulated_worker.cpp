// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_worker.hpp"

#include "file_use.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

simulated_worker::simulated_worker(host_program& program, asio::any_io_executor strand,
                                   std::function<void()> on_stop)
    : program_(program), strand_(std::move(strand)), on_stop_(std::move(on_stop)) {
    program_.worker = this;
}

simulated_worker::~simulated_worker() {
    stop();
    program_.worker = nullptr;
}

// The callers' coroutines may own the worker, so they are destroyed last.
void simulated_worker::stop() noexcept {
    if (std::exchange(is_stopped_, true)) return;
    const auto dropped = std::exchange(waiting_, {});
    const auto last = std::move(finished_);
    if (std::exchange(is_alive_, nullptr)) on_stop_();
}

void simulated_worker::kill() {
    if (std::exchange(is_alive_, nullptr)) on_stop_();
}

void simulated_worker::start(std::unique_ptr<job> next) {
    waiting_.push_back(std::move(next));
    if (!is_busy_) begin_next();
}

void simulated_worker::begin_next() {
    is_busy_ = true;
    call_after(program_.machine.delay_of_transaction(program_), &simulated_worker::run_first);
}

void simulated_worker::run_first() {
    finished_ = std::move(waiting_.front());
    waiting_.pop_front();
    file_use use(program_);
    finished_->run();
    call_after(use.end() + 10us, &simulated_worker::complete);
}

void simulated_worker::complete() {
    asio::post(strand_, [done = std::move(finished_)] { done->complete(); });
    is_busy_ = false;
    if (!waiting_.empty()) begin_next();
}

void simulated_worker::call_after(instant delay, void (simulated_worker::*function)()) {
    program_.machine.loop().schedule_after(delay,
                                           [this, function, alive = std::weak_ptr(is_alive_)] {
                                               if (alive.expired()) return;
                                               program_.process.post([this, function, alive] {
                                                   if (!alive.expired()) (this->*function)();
                                               });
                                           });
}

simulated_notifier::simulated_notifier(host_program& program,
                                       std::function<void(sqlite::notification)> on_notification)
    : program_(program),
      on_notification_(std::move(on_notification)),
      address_(program.machine.new_address()) {
    program_.machine.add(*this);
}

simulated_notifier::~simulated_notifier() { program_.machine.remove(*this); }

sqlite::notifier::presence simulated_notifier::presence_of(std::string_view address) {
    return program_.machine.has_client(address) ? presence::present : presence::gone;
}

void simulated_notifier::send(std::string_view address, const sqlite::notification& message) {
    program_.machine.deliver(program_, address, message);
}

void simulated_notifier::receive(const sqlite::notification& message) {
    const file_use use(program_);
    on_notification_(message);
}

}  // namespace pawl::simulation
