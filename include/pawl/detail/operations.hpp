// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An implementation detail: the functions that begin the async operations.
#pragma once

#include <pawl/detail/held_lock_base.hpp>
#include <pawl/detail/initiate.hpp>
#include <pawl/examination.hpp>
#include <pawl/latch_options.hpp>
#include <pawl/options.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl {

class held_lock;
class held_locks;

namespace core {
class lock_owner_state;
struct semaphore_total;
}  // namespace core

namespace detail {

using owner_ptr = std::shared_ptr<core::lock_owner_state>;
using total_ptr = std::shared_ptr<core::semaphore_total>;
using release_handler = boost::asio::any_completion_handler<void(release_result)>;

// The value for the lock's key; whether an existing hold is adopted.
struct caller_value {
    std::string value;
    bool is_adopting;
};

[[nodiscard]] owner_ptr make_owner(const engine_ptr& engine);
[[nodiscard]] total_ptr make_total(std::uint32_t permits);

// A `try_policy` makes the acquire a try: its attempts do not wait. Without a lock_owner, each
// acquire acts as a new one.
void start_acquire(operation_handler<held_lock> handler, engine_ptr engine, owner_ptr owner,
                   std::string name, lock_options options, std::optional<polling> try_policy);
void start_try_acquire_for(operation_handler<held_lock> handler, engine_ptr engine, owner_ptr owner,
                           std::string name, duration wait, lock_options options);
void start_acquire_as(operation_handler<held_lock> handler, engine_ptr engine, std::string name,
                      caller_value value, lock_options options, std::optional<polling> try_policy);
void start_acquire_all(operation_handler<held_locks> handler, engine_ptr engine, owner_ptr owner,
                       std::vector<std::string> names, lock_options options,
                       std::optional<polling> try_policy);
void start_inspect(operation_handler<lock_info> handler, engine_ptr engine, std::string name);
void start_wait_change(operation_handler<lock_info> handler, engine_ptr engine, std::string name,
                       fencing_token seen, duration interval);
void start_list(operation_handler<std::vector<lock_info>> handler, engine_ptr engine,
                std::string prefix);
void start_force_release(operation_handler<bool> handler, engine_ptr engine, std::string name,
                         fencing_token expected);
void start_resize(operation_handler<> handler, engine_ptr engine, std::string name,
                  std::uint32_t permits);
void start_examine(operation_handler<examination> handler, engine_ptr engine);
void start_close(boost::asio::any_completion_handler<void()> handler, engine_ptr engine);

void start_release(release_handler handler, lease_ptr lease, std::uint32_t number);
void start_release_all(release_handler handler, lease_ptr first,
                       std::vector<core::handle_id> handles);
void start_renew(operation_handler<> handler, lease_ptr lease);
void start_renew_all(operation_handler<> handler, lease_ptr first,
                     std::vector<core::handle_id> handles);
void start_downgrade(operation_handler<> handler, lease_ptr lease);
void start_wait_lost(operation_handler<loss_reason> handler, lease_ptr lease);

void start_acquire_permits(operation_handler<held_lock> handler, engine_ptr engine, total_ptr total,
                           std::string name, lock_options options, bool single_attempt);
void start_resize_total(operation_handler<> handler, engine_ptr engine, total_ptr total,
                        std::string name, std::uint32_t permits);

void start_set_latch(operation_handler<bool> handler, engine_ptr engine, std::string name,
                     std::uint32_t count, latch_options options);
void start_count_down(operation_handler<std::uint64_t> handler, engine_ptr engine, std::string name,
                      std::uint32_t steps);
void start_try_wait(operation_handler<bool> handler, engine_ptr engine, std::string name);
// `arrival`: the phase of a barrier; 0 for a latch, which means its present generation.
void start_wait_latch(operation_handler<> handler, engine_ptr engine, std::string name,
                      phase arrival, duration wait);
void start_count_down_and_wait(operation_handler<> handler, engine_ptr engine, std::string name,
                               duration wait);
void start_inspect_latch(operation_handler<latch_info> handler, engine_ptr engine,
                         std::string name);
void start_reset_latch(operation_handler<bool> handler, engine_ptr engine, std::string name);
void start_arrive(operation_handler<phase> handler, engine_ptr engine, std::string name,
                  std::uint32_t parties, latch_options options);
void start_arrive_and_wait(operation_handler<> handler, engine_ptr engine, std::string name,
                           std::uint32_t parties, latch_options options, duration wait);

}  // namespace detail
}  // namespace pawl
