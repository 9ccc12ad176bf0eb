// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The common parts of the backends `native`, `redisson` and `scriptless`, and the order in which
// they close. Pages of docs/backends describe the protocols.
#pragma once

#include "../transport/numbers.hpp"
#include "client_tasks.hpp"
#include "core/util/spi.hpp"
#include "durable_grants.hpp"
#include "lock_listing.hpp"
#include "renewals.hpp"
#include "server_access.hpp"
#include "server_watch.hpp"

#include <pawl/redis.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace pawl::redis {

class lock_base : protected link::listener, protected server_access, public backend {
public:
    ~lock_base() override { servers_->forget_listener(); }
    lock_base(const lock_base&) = delete;
    lock_base& operator=(const lock_base&) = delete;

    boost::asio::awaitable<void> confirm_durability(std::span<const hold* const> holds,
                                                    durability wanted,
                                                    time_point give_up_at) override {
        return durable_grants_.confirm(holds, wanted, give_up_at);
    }
    boost::asio::awaitable<void> renew(renewal_batch& batch) override {
        return renew_at(*servers_, batch);
    }
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    std::size_t renewals_at_once() const noexcept override { return bounds_.renewals_per_script; }
    std::size_t unanswered_renewals() const noexcept override {
        return bounds_.unanswered_renewals;
    }
    bool resumes_on_strand() const noexcept override { return true; }

protected:
    // `channel` as in topology_factory.
    lock_base(const options& server_options, backend_context context,
              const topology_factory& connect, const std::string& channel, const limits& bounds);

    // As `renew`, over the links of these servers.
    virtual boost::asio::awaitable<void> renew_at(topology& servers, renewal_batch& batch) = 0;
    [[nodiscard]] virtual std::string key_of(std::string_view name) const = 0;

    client_tasks tasks_;
    server_watch watch_;
    renewals renewals_;
    lock_listing listing_;

private:
    durable_grants durable_grants_;
};

}  // namespace pawl::redis
