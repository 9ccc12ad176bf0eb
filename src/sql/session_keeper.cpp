// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "session_keeper.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sql {
namespace {

// One attempt to connect, to all of the hosts together.
constexpr duration connect_limit = 5s;
// The longest pause is also the longest delay between the database's return and the next session.
constexpr core::pause_lengths reconnect_pauses{.first = 50ms, .longest = 1s};

}  // namespace

session_keeper::session_keeper(std::unique_ptr<connector> database, const backend_context& context,
                               handlers user_handlers)
    : database_(std::move(database)),
      context_(context),
      handlers_(std::move(user_handlers)),
      pauses_(*context_.time, reconnect_pauses) {}

asio::awaitable<std::shared_ptr<session>> session_keeper::get(time_point give_up_at) {
    const auto self = shared_from_this();
    auto& time = *context_.time;
    core::wakeup wakeup(time, context_.strand);
    struct entry {
        std::list<core::wakeup*>& waiters;
        const std::list<core::wakeup*>::iterator position;
        ~entry() { waiters.erase(position); }
    } const waiting{waiters_, waiters_.insert(waiters_.end(), &wakeup)};
    bool has_waited = false;
    for (;;) {
        if (is_closed_) throw error(errc::cancelled, "The client is closed.");
        if (present_ && !present_->is_over()) co_return present_;
        if (!is_connecting_) {
            // The attempt that this call has waited for has failed, or the next one is not due.
            if (failure_ && (has_waited || time.now() < retry_at_)) throw error(*failure_);
            start();
        }
        has_waited = true;
        const bool was_notified = co_await wakeup.wait_until(give_up_at);
        if (was_notified || time.now() < give_up_at) continue;
        const auto activity = database_->activity();
        if (!activity.empty())
            throw error(errc::unreachable,
                        database_->describe() + " was not ready in time: " + activity +
                            ", and goes on with that at the next attempt; try again.");
        throw error(errc::unreachable,
                    database_->describe() + " could not be reached in time" +
                        (failure_ ? std::string(": ") + failure_->what() : std::string(".")));
    }
}

void session_keeper::start() {
    is_connecting_ = true;
    try {
        asio::co_spawn(context_.strand, connect(shared_from_this()), asio::detached);
    } catch (...) {
        is_connecting_ = false;
        throw;
    }
}

asio::awaitable<void> session_keeper::connect(std::shared_ptr<session_keeper> self) {
    std::shared_ptr<session> made;
    std::optional<error> failure;
    session_handlers events{[weak = std::weak_ptr(self)](std::string_view message) {
                                if (const auto keeper = weak.lock())
                                    keeper->handlers_.on_message(message);
                            },
                            [weak = std::weak_ptr(self)] {
                                if (const auto keeper = weak.lock()) keeper->on_session_end();
                            },
                            [weak = std::weak_ptr(self)](bool is_hearing) {
                                if (const auto keeper = weak.lock())
                                    keeper->handlers_.on_hearing(is_hearing);
                            }};
    try {
        made = co_await self->database_->connect(std::move(events),
                                                 self->context_.time->now() + connect_limit);
    } catch (const error& failed) {
        failure = failed;
    } catch (const std::exception& failed) {
        failure = error(errc::exhausted, failed.what());
    }
    self->is_connecting_ = false;
    if (failure) {
        self->on_failure(*failure);
    } else if (self->is_closed_) {
        made->close();
    } else {
        self->failure_.reset();
        self->pauses_.reset();
        self->present_ = std::move(made);
        ++self->context_.counts->connections;
        if (std::exchange(self->had_session_, true)) self->handlers_.on_replaced();
    }
    self->notify_waiters();
}

void session_keeper::on_failure(const error& failure) {
    retry_at_ = context_.time->now() + pauses_.next_pause();
    failure_ = error(failure.reason(), failure.what(), failure.is_transient(), retry_at_);
}

void session_keeper::on_session_end() {
    // The news of an earlier session may come late.
    if (present_ && present_->is_over()) {
        const auto ended = std::exchange(present_, nullptr);
        handlers_.on_end(ended->facts().client);
    }
    notify_waiters();
}

void session_keeper::end(const std::shared_ptr<session>& ended) {
    if (present_ != ended) return;
    ended->close();
    on_session_end();
}

void session_keeper::close() {
    is_closed_ = true;
    if (const auto closed = std::exchange(present_, nullptr)) closed->close();
    notify_waiters();
}

std::string session_keeper::unreachable_reason() const {
    return present_ || !failure_ ? std::string() : failure_->what();
}

void session_keeper::notify_waiters() {
    for (auto* each : waiters_)
        each->notify();
}

}  // namespace pawl::sql
