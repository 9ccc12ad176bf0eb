// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Requests for locks, behind both APIs. acquire.cpp defines `engine::acquire`, too.
#pragma once

#include "engine.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pawl::core {

// The options of an acquire. A try policy makes the acquire a try: its attempts do not wait, and
// `options.wait` is ignored. Without one, the acquire waits for up to `options.wait`.
// Not an aggregate, so that it may be passed inside a co_await expression (decision 14).
struct request {
    explicit request(const lock_options& acquire_options, std::optional<polling> policy = {},
                     std::optional<std::string> value = {}, bool adopting = false)
        : options(acquire_options),
          stated_wait(acquire_options.wait),
          try_policy(policy),
          caller_value(std::move(value)),
          is_adopting(adopting) {}

    lock_options options;
    duration stated_wait;  // the caller's, for messages: `options.wait` may be the rest of it
    std::optional<polling> try_policy;
    // The value for the lock's key, if the caller chose one.
    std::optional<std::string> caller_value;
    bool is_adopting;  // continues the hold of that value
};

[[nodiscard]] request to_request(const try_options& options);

// The state of a lock_owner: its holds, and the queue of its own requests. Used on the strand of
// its engine.
class lock_owner_state {
public:
    explicit lock_owner_state(const engine& engine);

    // Another handle of a hold of this owner; empty if there is no such hold. Throws errc::lost if
    // the hold is lost, and errc::bad_option if the hold does not include the requested one.
    [[nodiscard]] lease_handle reenter(const std::string& name, const lock_options& options) const;
    void remember(const std::string& name, const std::shared_ptr<lease>& lease);
    [[nodiscard]] waiting_room& room() noexcept { return waiting_room_; }

private:
    waiting_room waiting_room_;
    std::unordered_map<std::string, std::weak_ptr<lease>> held_;
};

// Runs on the engine's strand. As `engine::acquire`, but the handle is empty if the lock was not
// free within `wait`.
[[nodiscard]] boost::asio::awaitable<lease_handle> try_acquire_for(
    engine::ptr engine, std::shared_ptr<lock_owner_state> owner, std::string name, duration wait,
    lock_options options);

// Runs on the engine's strand. Acquires all of the names or none, in the order of their bytes. With
// a try policy, the result is empty if one of the locks is taken. Throws pawl::error. `owner` as in
// `engine::acquire`.
[[nodiscard]] boost::asio::awaitable<std::vector<lease_handle>> acquire_all(
    engine::ptr engine, std::shared_ptr<lock_owner_state> owner, std::vector<std::string> names,
    request request);

// Inspects the lock every `interval`, until the holder's token is not `seen`; a free lock has the
// empty token.
[[nodiscard]] boost::asio::awaitable<lock_info> wait_change(engine::ptr engine, std::string name,
                                                            fencing_token seen, duration interval);

}  // namespace pawl::core
