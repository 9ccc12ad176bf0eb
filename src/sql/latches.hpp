// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One client's latches, and its waiters.
#pragma once

#include "lock_client.hpp"

#include "../core/store/latch_state.hpp"

#include <map>
#include <memory>
#include <string>

namespace pawl::sql {

// Used on the client's strand.
class table_latches final : public latches {
public:
    explicit table_latches(std::shared_ptr<lock_client> client);

    boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                         duration ttl) override;
    boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) override;
    boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                        duration ttl) override;
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override;
    boost::asio::awaitable<bool> reset(std::string_view name) override;

private:
    using waiter_table = std::multimap<std::string, core::wakeup*, std::less<>>;
    class latch_wait;

    // A step, with 0 parties for a count down. It is repeated under the same request number.
    boost::asio::awaitable<step> send_step(std::string name, std::uint32_t steps,
                                           std::uint32_t parties, duration ttl);
    static boost::asio::awaitable<void> leave(std::shared_ptr<lock_client> client, std::string name,
                                              std::string waiter);

    const std::shared_ptr<lock_client> client_;
    const std::shared_ptr<waiter_table> waiters_ = std::make_shared<waiter_table>();
};

}  // namespace pawl::sql
