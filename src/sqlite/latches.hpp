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
class file_latches final : public core::row_latches<file_latches> {
public:
    file_latches(std::shared_ptr<lock_session> session, const backend_context& context);

    template <class T, class Job>
    boost::asio::awaitable<T> run(std::string_view name, Job job) {
        const auto session = session_;
        session->throw_if_forked();
        const auto work = [name = std::string(name), job](store& file) {
            return latch_store(file).run(name, job);
        };
        co_return co_await session->run_last(work);
    }
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override;

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

    const std::shared_ptr<lock_session> session_;
    const boost::asio::any_io_executor strand_;
    runtime& time_;
    const std::shared_ptr<waiter_table> waiters_ = std::make_shared<waiter_table>();
};

}  // namespace pawl::sqlite
