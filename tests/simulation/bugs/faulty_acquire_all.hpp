// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A faulty acquire_all that acquires name after name. It carries the bugs of injected_bug.hpp that
// cannot be injected below the core.
#pragma once

#include "core/util/spi.hpp"
#include "injected_bug.hpp"

#include <pawl/client.hpp>
#include <pawl/held_locks.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pawl::simulation {

[[nodiscard]] constexpr bool is_acquire_all_bug(injected_bug bug) noexcept {
    return bug == injected_bug::set_in_callers_order || bug == injected_bug::set_keeps_first ||
           bug == injected_bug::set_with_lost_lock;
}

// Keep the shared pointer until the handler is called: without it the handler is never called.
class faulty_acquire_all : public std::enable_shared_from_this<faulty_acquire_all> {
public:
    using completion_handler = std::function<void(const boost::system::error_code&, held_locks)>;

    faulty_acquire_all(client& client, runtime& time, injected_bug bug, completion_handler handler);
    void start(std::vector<std::string> names, const lock_options& options,
               boost::asio::cancellation_slot slot, const boost::asio::any_io_executor& executor);

private:
    void acquire_next();
    void on_completion(const boost::system::error_code& ec, held_lock lock);
    void complete();

    client& client_;
    runtime& time_;
    const injected_bug bug_;
    const completion_handler handler_;
    std::vector<std::string> names_;
    lock_options options_;
    time_point give_up_at_{};
    boost::asio::cancellation_slot slot_;
    boost::asio::any_io_executor executor_;
    std::vector<held_lock> acquired_;
    std::vector<held_lock> forgotten_locks_;
};

}  // namespace pawl::simulation
