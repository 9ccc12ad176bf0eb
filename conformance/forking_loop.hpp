// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The helper's asynchronous client, whose process forks and whose child runs the event loop.
//   loop_fork close|keep|use NAME TTL_MS    held TOKEN, and then the child's line: child STATE,
//                                           for `use` with the result of a release and the number
//                                           of refused acquires
//   loop_state                              state STATE
//   loop_release                            release RESULT
//   loop_work                               worked TIMES
// STATE as in agent.cpp.
#pragma once

#include <pawl/client.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <future>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

namespace pawl::conformance {

class forking_loop {
public:
    explicit forking_loop(const service& service_to_lock);
    ~forking_loop();

    void fork(std::istream& arguments);
    void run_command(const std::string& verb);

private:
    [[noreturn]] void run_child(const std::string& child_action);
    void use_copied_client();
    int acquire_many(const std::string& prefix);
    // Runs the loop until the operation has a result, unless another thread runs the loop.
    template <class Result>
    Result result_of(std::future<Result> operation);

    boost::asio::io_context loop_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> has_work_{
        loop_.get_executor()};
    std::optional<client> client_;
    held_lock lock_;
    std::thread thread_;
};

}  // namespace pawl::conformance
