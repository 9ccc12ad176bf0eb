// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One client's latches, and its waiters.
#pragma once

#include "latch_store.hpp"
#include "lock_session.hpp"

#include <map>
#include <memory>
#include <string>

namespace pawl::sqlite {

// Used on the client's strand.
class file_latches final : public latches {
public:
    file_latches(std::shared_ptr<lock_session> session, const backend_context& context);

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
    struct latch_waiter {
        core::wakeup wakeup;
        std::optional<core::latch_state> latest;
    };
    using waiter_table = std::multimap<std::string, latch_waiter*, std::less<>>;
    class latch_wait;

    static boost::asio::awaitable<std::optional<core::latch_state>> refresh(
        const std::shared_ptr<lock_session>& session, const latch_waiter_key& waiter);
    static boost::asio::awaitable<void> leave(std::shared_ptr<lock_session> session,
                                              latch_waiter_key waiter);
    // Runs a step with the latch's `latch_table` in a transaction.
    template <class Job>
    auto run(std::string_view name, Job job)
        -> boost::asio::awaitable<std::invoke_result_t<Job&, latch_store::table&>>;

    const std::shared_ptr<lock_session> session_;
    const boost::asio::any_io_executor strand_;
    runtime& time_;
    const std::shared_ptr<waiter_table> waiters_ = std::make_shared<waiter_table>();
};

}  // namespace pawl::sqlite
