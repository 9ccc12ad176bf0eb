// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "semaphore.hpp"

#include "acquire.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

// Sends the total with a single attempt, so that no waiter has a total that a resize makes wrong.
// Empty: the permits are not free. If `total->is_accepted` is still false, the service may also be
// away while there is time left.
asio::awaitable<lease_handle> try_with_total(engine::ptr engine,
                                             std::shared_ptr<semaphore_total> total,
                                             std::string name, lock_options options,
                                             time_point give_up_at) {
    lease_handle handle;
    options.total_permits = total->permits;
    try {
        request single(options, polling{});
        handle = co_await engine->acquire(name, std::move(single));
        total->is_accepted = true;
    } catch (const error& e) {
        if (!e.is_transient() || engine->time().now() >= give_up_at) throw;
    }
    co_return handle;
}

asio::awaitable<bool> has_total(engine::ptr engine, std::string name) {
    const auto info = co_await engine->inspect(name);
    co_return info.permits != 0 || info.free_permits;
}

}  // namespace

asio::awaitable<lease_handle> acquire_permits(engine::ptr engine,
                                              std::shared_ptr<semaphore_total> total,
                                              std::string name, lock_options options,
                                              bool single_attempt) {
    options.mode = lock_mode::permits;
    if (single_attempt) options.wait = {};
    const auto give_up_at = plus(engine->time().now(), options.wait);
    for (;;) {
        if (!total->is_accepted) {
            auto handle = co_await try_with_total(engine, total, name, options, give_up_at);
            if (handle.held_lease || single_attempt) co_return handle;
        }
        const bool was_accepted = total->is_accepted;
        request repeated(options);
        if (single_attempt) repeated.try_policy = polling{};
        repeated.options.total_permits = was_accepted ? 0 : total->permits;
        if (options.wait != forever)
            repeated.options.wait = std::max(duration{}, give_up_at - engine->time().now());
        std::optional<error> refusal;
        try {
            auto handle = co_await engine->acquire(name, repeated);
            total->is_accepted = true;
            co_return handle;
        } catch (const error& e) {
            if (e.reason() == errc::timed_out) total->is_accepted = true;
            if (e.reason() != errc::bad_option || !was_accepted) throw;
            refusal = e;
        }
        const bool is_known = co_await has_total(engine, name);
        if (is_known) throw error(*refusal);
        total->is_accepted = false;
    }
}

asio::awaitable<bool> resize(engine::ptr engine, std::shared_ptr<semaphore_total> total,
                             std::string name, std::uint32_t permits) {
    co_await engine->resize(std::move(name), permits);
    total->permits = permits;
    total->is_accepted = true;
    co_return true;
}

}  // namespace pawl::core
