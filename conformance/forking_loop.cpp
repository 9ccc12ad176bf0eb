// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "forking_loop.hpp"

#include "helper_output.hpp"
#include "test_support.hpp"

#include <boost/asio/use_future.hpp>

#include <chrono>
#include <future>

#include <poll.h>
#include <unistd.h>

namespace pawl::conformance {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr int rounds = 50;

// Whether no process writes to the helper any more. The child must not read: the commands are its
// parent's.
bool input_has_ended() {
    pollfd input{STDIN_FILENO, 0, 0};
    return ::poll(&input, 1, 0) > 0;
}

}  // namespace

forking_loop::forking_loop(const service& service_to_lock)
    : client_(std::in_place, loop_.get_executor(), service_to_lock, long_tries) {}

forking_loop::~forking_loop() {
    has_work_.reset();
    lock_ = {};
    client_.reset();
    if (thread_.joinable()) thread_.join();
}

template <class Result>
Result forking_loop::result_of(std::future<Result> operation) {
    if (!thread_.joinable()) {
        while (operation.wait_for(0s) != std::future_status::ready)
            loop_.run_one();
    }
    return operation.get();
}

// As Asio requires: no thread runs the loop meanwhile, and the loop is notified before and after.
void forking_loop::fork(std::istream& arguments) {
    std::string child_action, name, ttl;
    arguments >> child_action >> name >> ttl;
    lock_ = result_of(client_->async_acquire(
        name, {.ttl = std::chrono::milliseconds(std::stoll(ttl)), .wait = 10s}, asio::use_future));
    write_line("held " + to_string(lock_.token()));
    loop_.notify_fork(asio::execution_context::fork_prepare);
    if (::fork() == 0) run_child(child_action);
    loop_.notify_fork(asio::execution_context::fork_parent);
    thread_ = std::thread([this] { loop_.run(); });
}

// Runs the loop as long as the helper gets commands, and longer if the helper was killed.
void forking_loop::run_child(const std::string& child_action) {
    loop_.notify_fork(asio::execution_context::fork_child);
    if (child_action == "use")
        use_copied_client();
    else
        write_line("child " + describe_state(lock_));
    if (child_action == "close") client_.reset();
    const auto give_up_at = std::chrono::steady_clock::now() + 60s;
    while (!input_has_ended() && std::chrono::steady_clock::now() < give_up_at)
        loop_.run_for(10ms);
    ::_exit(0);
}

void forking_loop::use_copied_client() {
    const std::string state_seen = describe_state(lock_);
    const auto release = result_of(lock_.async_release(asio::use_future));
    const int refusals = rounds - acquire_many("child's");
    write_line("child " + state_seen + " " + word(release) + " " + std::to_string(refusals));
}

// Returns how many locks were acquired. The loop runs on another thread, or on this one.
int forking_loop::acquire_many(const std::string& prefix) {
    int acquired = 0;
    for (int i = 0; i < rounds; ++i) {
        auto acquisition =
            client_->async_try_acquire(prefix + std::to_string(i), {.ttl = 10s}, asio::use_future);
        try {
            if (const auto lock = result_of(std::move(acquisition))) ++acquired;
        } catch (const std::exception&) {}  // it is not counted
    }
    return acquired;
}

void forking_loop::run_command(const std::string& verb) {
    if (verb == "loop_state")
        write_line("state " + describe_state(lock_));
    else if (verb == "loop_release")
        write_line("release " + word(result_of(lock_.async_release(asio::use_future))));
    else if (verb == "loop_work")
        write_line("worked " + std::to_string(acquire_many("parent's")));
    else
        write_line("unknown command " + verb);
}

}  // namespace pawl::conformance
