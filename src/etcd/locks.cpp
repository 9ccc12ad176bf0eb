// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "acquire_attempt.hpp"
#include "administration.hpp"
#include "doctor.hpp"
#include "holds.hpp"
#include "lock_client.hpp"

#include <string>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::etcd {
namespace {

constexpr capabilities etcd_capabilities() noexcept {
    capabilities all;
    all.loss_is_pushed = true;
    all.survives_failover = true;
    all.strictly_fair = all.shared = all.permits = all.downgrades = true;
    all.acquire_batch = true;
    // The least time to live of a lease is 1.5 times the election timeout, 1 s by default.
    all.least_ttl = 2s;
    all.ttl_granularity = 1s;
    return all;
}

// Each function keeps the client: its frame may be the last object that is destroyed.
class etcd_backend final : public backend {
public:
    etcd_backend(const options& settings, const backend_context& context)
        : client_(lock_client::make(settings, context)) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        const core::in_flight::guard operation(client->operations());
        acquire_attempt attempt(client, requested, give_up_at);
        co_return co_await attempt.run();
    }
    asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                      time_point give_up_at) override {
        client_->throw_if_forked();
        return etcd::acquire_batch(client_, claims, give_up_at);
    }
    // In the other layout, the keys of a longer name may stand under that of a shorter one.
    [[nodiscard]] bool can_batch(std::span<const std::string> names) const override {
        return client_->keys().layout() == key_layout::native &&
               names.size() <= most_operations - 4;
    }
    asio::awaitable<void> renew(renewal_batch& batch) override {
        if (client_->is_forked()) co_return;
        const auto client = client_;
        co_await etcd::renew(client, batch);
    }
    asio::awaitable<release_result> release(const hold& requested) override {
        const auto client = client_;
        if (client->is_forked()) co_return release_result::unknown;
        co_return co_await etcd::release(client, requested);
    }
    asio::awaitable<lock_info> inspect(std::string_view name) override {
        return etcd::inspect(client_, std::string(name));
    }
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        return etcd::list(client_, std::string(prefix));
    }
    asio::awaitable<std::optional<grant>> downgrade(const hold& requested) override {
        return etcd::downgrade(client_, requested);
    }
    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        return etcd::resize(client_, std::string(name), permits);
    }
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        return etcd::force_release(client_, std::string(name), expected);
    }
    asio::awaitable<examination> examine() override { return etcd::examine(client_); }
    asio::awaitable<void> close(time_point give_up_at) override {
        return lock_client::close(client_, give_up_at);
    }
    [[nodiscard]] std::string unreachable_reason(std::string_view) const override {
        return client_->link().unreachable_reason();
    }
    [[nodiscard]] spi::capabilities capabilities() const noexcept override {
        return etcd_capabilities();
    }

private:
    const std::shared_ptr<lock_client> client_;
};

}  // namespace

std::unique_ptr<backend> make_backend(const options& settings, const backend_context& context) {
    return std::make_unique<etcd_backend>(settings, context);
}

}  // namespace pawl::etcd
