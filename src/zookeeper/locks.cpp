// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "acquire_attempt.hpp"
#include "doctor.hpp"
#include "lock_client.hpp"
#include "lock_reports.hpp"
#include "options.hpp"

#include <string>
#include <utility>

namespace asio = boost::asio;

namespace pawl::zookeeper {
namespace {

class lock_backend final : public backend {
public:
    lock_backend(std::shared_ptr<lock_client> client, const spi::capabilities& supported)
        : client_(std::move(client)), capabilities_(supported) {}

    // Every coroutine keeps the client: its frame may be the last object that is destroyed.
    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        const core::in_flight::guard operation(client->operations());
        co_return co_await zookeeper::acquire(client, requested, give_up_at);
    }
    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto client = client_;
        if (client->is_forked()) co_return;
        const core::in_flight::guard operation(client->operations());
        co_await client->renew(batch);
    }
    asio::awaitable<release_result> release(const hold& requested) override {
        const auto client = client_;
        if (client->is_forked()) co_return release_result::unknown;
        const core::in_flight::guard operation(client->operations());
        co_return co_await client->release(requested);
    }
    asio::awaitable<std::optional<grant>> downgrade(const hold& requested) override {
        const auto client = client_;
        client->throw_if_forked();
        co_return co_await client->downgrade(requested);
    }
    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        const auto client = client_;
        client->throw_if_forked();
        co_await client->resize(name, permits);
    }
    asio::awaitable<lock_info> inspect(std::string_view name) override {
        return zookeeper::inspect(client_, std::string(name));
    }
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        return zookeeper::list(client_, std::string(prefix));
    }
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        return zookeeper::force_release(client_, std::string(name), expected);
    }
    asio::awaitable<examination> examine() override { return zookeeper::examine(client_); }
    asio::awaitable<void> close(time_point give_up_at) override {
        const auto client = client_;
        co_await client->close(give_up_at);
    }
    [[nodiscard]] std::string unreachable_reason(std::string_view) const override {
        return client_->sessions().failure_text();
    }
    [[nodiscard]] spi::capabilities capabilities() const noexcept override { return capabilities_; }
    [[nodiscard]] std::string capability_hint(lock_mode, bool) const override {
        return client_->settings().object == lock_object::read_write_lock
                   ? std::string()
                   : "leave object out of the URL, for locks with all modes";
    }

private:
    const std::shared_ptr<lock_client> client_;
    const spi::capabilities capabilities_;
};

}  // namespace

std::unique_ptr<backend> make_backend(std::shared_ptr<const client_settings> settings,
                                      const backend_context& context) {
    const auto supported = settings->supported;
    return std::make_unique<lock_backend>(lock_client::make(std::move(settings), context),
                                          supported);
}

spi::capabilities capabilities_of(const options& given) noexcept {
    spi::capabilities supported;
    supported.loss_is_pushed = true;
    supported.survives_failover = true;
    supported.knows_remaining_time = false;
    supported.strictly_fair = true;
    const bool has_modes = given.object == lock_object::read_write_lock;
    supported.shared = supported.permits = supported.downgrades = has_modes;
    supported.ttl_granularity = given.tick / 2;
    supported.least_ttl = given.tick / 2 * 2;
    const auto unit = supported.ttl_granularity;
    supported.most_ttl = (longest_session(given) - given.tick * 2) / unit * unit;
    return supported;
}

}  // namespace pawl::zookeeper
