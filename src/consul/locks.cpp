// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "doctor.hpp"
#include "lock_client.hpp"

#include <boost/asio/this_coro.hpp>

#include <exception>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::consul {
namespace {

// What follows a cancelled request needs co_awaits, so these do not throw the cancellation.
template <class Result>
asio::awaitable<Result> without_cancellation(asio::awaitable<Result> work) {
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    Result result{};
    std::exception_ptr failure;
    try {
        result = co_await std::move(work);
    } catch (...) {
        failure = std::current_exception();
    }
    co_await asio::this_coro::throw_if_cancelled(throws);
    if (failure) std::rethrow_exception(failure);
    co_return result;
}

// Every coroutine keeps the client: its frame may be the last object that is destroyed.
class consul_backend final : public backend {
public:
    explicit consul_backend(std::shared_ptr<lock_client> client) : client_(std::move(client)) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        auto granted = co_await without_cancellation(client->acquire(requested, give_up_at));
        co_return granted;
    }
    asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                      time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        auto grants = co_await without_cancellation(client->acquire_batch(claims, give_up_at));
        co_return grants;
    }
    [[nodiscard]] bool can_batch(std::span<const std::string> names) const override {
        return names.size() <= lock_client::most_in_batch;
    }

    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto client = client_;
        if (!client->is_forked()) co_await client->renew(batch);
    }
    asio::awaitable<release_result> release(const hold& held) override {
        const auto client = client_;
        if (client->is_forked()) co_return release_result::unknown;
        const auto result = co_await client->release(held);
        co_return result;
    }
    asio::awaitable<lock_info> inspect(std::string_view name) override {
        const auto client = client_;
        client->throw_if_forked();
        auto info = co_await client->inspect(std::string(name));
        co_return info;
    }
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        const auto client = client_;
        client->throw_if_forked();
        auto locks = co_await client->list(std::string(prefix));
        co_return locks;
    }
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        const auto client = client_;
        client->throw_if_forked();
        const bool was_held = co_await client->force_release(std::string(name), expected);
        co_return was_held;
    }
    asio::awaitable<examination> examine() override {
        const auto client = client_;
        client->throw_if_forked();
        auto result = co_await examine_service(client->server(), client->try_deadline());
        co_return result;
    }
    asio::awaitable<void> close(time_point give_up_at) override {
        const auto client = client_;
        co_await client->close(give_up_at);
    }
    [[nodiscard]] std::string unreachable_reason(std::string_view) const override {
        return client_->server().client().failure();
    }

    [[nodiscard]] spi::capabilities capabilities() const noexcept override {
        spi::capabilities all;
        all.hands_over = all.modes_share_queue = all.knows_remaining_time = false;
        all.order = fairness::none;
        all.survives_failover = all.acquire_batch = true;
        all.least_ttl = 10s;
        all.ttl_granularity = 1s;
        // Consul ends a silent session after twice its ttl.
        all.takeover_ttls = 2;
        all.takeover_delay = 1s;
        return all;
    }

private:
    const std::shared_ptr<lock_client> client_;
};

}  // namespace

std::unique_ptr<backend> make_backend(const options& settings, const backend_context& context) {
    return std::make_unique<consul_backend>(std::make_shared<lock_client>(settings, context));
}

}  // namespace pawl::consul
