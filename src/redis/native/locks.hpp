// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The Redis backend with the native layout. The members are in acquire.cpp, acquire_batch.cpp,
// renew.cpp and admin.cpp; docs/backends/redis.md describes the protocol.
#pragma once

#include "../common/acquire_attempt.hpp"
#include "../common/backends.hpp"
#include "../common/lock_base.hpp"
#include "caller_values.hpp"
#include "latches.hpp"
#include "lock_scripts.hpp"
#include "owner_records.hpp"
#include "queue_client.hpp"
#include "releases.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::native {

class locks final : public lock_base {
public:
    locks(const options& server_options, backend_context context, const topology_factory& connect,
          const limits& bounds);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> requested,
                                                             time_point give_up_at) override;
    boost::asio::awaitable<std::optional<grant>> adopt(const claim& requested) override {
        return caller_values_.adopt(requested);
    }
    bool can_batch(std::span<const std::string> names) const override;
    boost::asio::awaitable<release_result> release(const hold& held) override {
        return releases_.release(held);
    }
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<bool> force_release(std::string_view name,
                                               fencing_token expected) override;
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& held) override;
    boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override;
    boost::asio::awaitable<examination> examine() override;
    std::string unreachable_reason(std::string_view name) const override;
    spi::latches* latches() noexcept override { return &latches_; }
    spi::capabilities capabilities() const noexcept override;

private:
    locks(const options& server_options, backend_context context, const topology_factory& connect,
          const limits& bounds, std::string client);

    boost::asio::awaitable<void> renew_at(topology& servers, renewal_batch& batch) override;
    // Renews the group with the script of `Call`, which must fit the modes of its holds. `all_keys`
    // has the keys of each renewal of the whole batch.
    template <class Call>
    boost::asio::awaitable<void> renew_group(topology& servers, renewal_batch& batch,
                                             std::span<const keys> all_keys, renewal_group group);
    std::string key_of(std::string_view name) const override {
        return std::string(scripts_.scheme().keys_of(name).lock());
    }
    // Takes the lock if it is free, whether or not others wait for it. `give_up_at` =
    // time_point::min(): for an acquire that does not wait.
    boost::asio::awaitable<std::optional<grant>> take_free_lock(const claim& requested,
                                                                time_point give_up_at);
    // The same for a claim whose first request asks for a place in the queue.
    boost::asio::awaitable<std::optional<grant>> take_place(const claim& requested,
                                                            time_point give_up_at);

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view key) override { queue_.on_invalidate(key); }
    void on_connected(const link& connected_link) override;

    lock_scripts scripts_;
    const std::string channel_;  // the channel for messages to this client
    owner_records records_;
    native_latches latches_;
    queue_client queue_;
    releases releases_;
    caller_values caller_values_;
};

}  // namespace pawl::redis::native
