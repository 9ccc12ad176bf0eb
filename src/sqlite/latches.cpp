// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latches.hpp"

#include "core/util/random.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sqlite {
namespace {

// The last resort after a lost notification. It also keeps the waiter's row alive.
constexpr duration shortest_refresh = 4s;
constexpr duration longest_refresh = 6s;

}  // namespace

// Notifications reach this object until it goes out of scope. The row in the file is deleted in the
// background.
class file_latches::latch_wait {
public:
    latch_wait(file_latches& latches_of_client, latch_waiter_key key)
        : latches_(latches_of_client),
          key_(std::move(key)),
          waiter_{{latches_of_client.time_, latches_of_client.strand_}, {}},
          position_(latches_of_client.waiters_->emplace(key_.name, &waiter_)) {}
    ~latch_wait() {
        latches_.waiters_->erase(position_);
        try {
            asio::co_spawn(latches_.strand_, leave(latches_.session_, std::move(key_)),
                           asio::detached);
        } catch (...) {}  // no memory: the row expires by itself
    }
    latch_wait(const latch_wait&) = delete;
    latch_wait& operator=(const latch_wait&) = delete;

    latch_waiter* operator->() noexcept { return &waiter_; }

private:
    file_latches& latches_;
    latch_waiter_key key_;
    latch_waiter waiter_;
    waiter_table::iterator position_;
};

file_latches::file_latches(std::shared_ptr<lock_session> session, const backend_context& context)
    : session_(std::move(session)), strand_(context.strand), time_(*context.time) {
    // Runs on the worker. Any program may send notifications, so the latch is read from the file.
    session_->on_latch_notification = [weak = std::weak_ptr(waiters_)](store& file,
                                                                       const std::string& name) {
        const auto latest = latch_store(file).read_state(name);
        return [weak, name, latest] {
            const auto waiters = weak.lock();
            if (!waiters) return;
            const auto [begin, end] = waiters->equal_range(name);
            for (auto position = begin; position != end; ++position) {
                position->second->latest = latest;
                position->second->wakeup.notify();
            }
        };
    };
}

asio::awaitable<void> file_latches::leave(std::shared_ptr<lock_session> session,
                                          latch_waiter_key waiter) {
    try {
        co_await session->run(
            [&waiter](store& file) { return latch_store(file).leave(waiter), true; });
    } catch (const error&) {}  // the row expires by itself
}

asio::awaitable<bool> file_latches::wait(std::string_view name, std::uint64_t generation,
                                         time_point give_up_at) {
    const auto session = session_;
    session->throw_if_forked();
    latch_waiter_key key;
    key.id = core::random_hex(time_, 16);
    key.name = name;
    latch_wait waiter(*this, key);
    for (;;) {
        const bool was_notified = waiter->latest.has_value();
        auto present = std::exchange(waiter->latest, std::nullopt);
        if (!was_notified) present = co_await refresh(session, key);
        const bool is_over_now = present && core::is_over(*present, key.name, generation);
        if (is_over_now) co_return true;
        const auto now = time_.now();
        if (now >= give_up_at) co_return false;
        const auto refresh_in = present
                                    ? core::random_between(time_, shortest_refresh, longest_refresh)
                                    : core::random_between(time_, 300ms, 600ms);
        auto wake_at = std::min(now + refresh_in, give_up_at);
        if (present) wake_at = std::min(wake_at, present->expires);
        const bool notified = co_await waiter->wakeup.wait_until(wake_at);
        if (!notified && time_.now() >= give_up_at) co_return false;
    }
}

// Empty: the file was busy, or the disk was full. The caller may have counted down before this
// wait, and cannot take that back, so the wait must continue.
asio::awaitable<std::optional<core::latch_state>> file_latches::refresh(
    const std::shared_ptr<lock_session>& session, const latch_waiter_key& waiter) {
    const auto job = [waiter](store& file) { return latch_store(file).join(waiter); };
    try {
        co_return co_await session->run(job);
    } catch (const error& failed) {
        if (!failed.is_transient()) throw;
    }
    co_return std::nullopt;
}

asio::awaitable<latch_info> file_latches::inspect(std::string_view name) {
    const auto session = session_;
    session->throw_if_forked();
    const auto job = [name = std::string(name)](store& file) {
        return latch_store(file).inspect(name);
    };
    co_return co_await session->run_last(job);
}

}  // namespace pawl::sqlite
