// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "session_pool.hpp"

#include "../util/back_off.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

error closed_pool_error() { return {errc::cancelled, "The client is closed."}; }

}  // namespace

// A session that is being made, for all callers that want its ttl.
struct session_pool::opening {
    duration ttl;
    session_ptr made{};
    std::optional<error> failure{};
    bool is_done = false;
};

session_pool::session_pool(std::shared_ptr<session_requests> requests,
                           const backend_context& context, const session_limits& limits)
    : requests_(std::move(requests)),
      time_(*context.time),
      strand_(context.strand),
      limits_(limits),
      changed_(time_, strand_),
      keepers_(time_, strand_) {}

session_ptr session_pool::find(duration ttl) const noexcept {
    const auto at = std::ranges::find(sessions_, ttl, &pooled_session::ttl);
    return at == sessions_.end() ? nullptr : *at;
}

session_ptr session_pool::find(std::string_view id) const noexcept {
    const auto at = std::ranges::find(sessions_, id, &pooled_session::id);
    return at == sessions_.end() ? nullptr : *at;
}

// A hold that is not renewed for its ttl is lost, so twice the ttl is enough.
bool session_pool::has_holds(const pooled_session& session) const noexcept {
    return session.users_ > 0 || time_.now() - session.used_at_ <= 2 * session.ttl_;
}

time_point session_pool::unused_at(pooled_session& session) const noexcept {
    if (session.users_ > 0) use(session);
    return session.used_at_ + std::max(limits_.keep_unused, 2 * session.ttl_);
}

time_point session_pool::request_limit(const pooled_session& session) const noexcept {
    const auto limit = std::min(session.ttl_ / 3, limits_.longest_request);
    return std::min(time_.now() + limit, session.deadline());
}

// Ends the session without holds that was not used for the longest time.
void session_pool::make_room() {
    if (sessions_.size() + openings_.size() < limits_.most_sessions) return;
    session_ptr oldest;
    for (const auto& each : sessions_)
        if (!has_holds(*each) && (!oldest || each->used_at_ < oldest->used_at_)) oldest = each;
    if (!oldest)
        throw error(errc::exhausted, "This client has holds with " +
                                         std::to_string(limits_.most_sessions) +
                                         " different ttls, and each needs a session; use fewer "
                                         "different ttls.");
    on_end(oldest);
    asio::co_spawn(strand_, end_at_store(oldest, request_limit(*oldest)), asio::detached);
}

asio::awaitable<session_ptr> session_pool::get(duration ttl, time_point give_up_at) {
    if (is_closed_) throw closed_pool_error();
    if (auto present = find(ttl)) {
        use(*present);
        co_return present;
    }
    const auto begun =
        std::ranges::find_if(openings_, [ttl](const auto& each) { return each->ttl == ttl; });
    std::shared_ptr<opening> opened;
    if (begun != openings_.end()) {
        opened = *begun;
    } else {
        make_room();
        opened = std::make_shared<opening>(opening{.ttl = ttl});
        openings_.push_back(opened);
        const auto limit = time_.now() + limits_.longest_request;
        asio::co_spawn(strand_, open(shared_from_this(), opened, limit), asio::detached);
    }
    while (!opened->is_done && time_.now() < give_up_at)
        co_await changed_.wait_until(give_up_at);
    if (opened->failure) throw error(*opened->failure);
    if (!opened->is_done)
        throw error(errc::unreachable, "The service did not make a session in time.");
    use(*opened->made);
    co_return opened->made;
}

// Beside the callers, whose cancellation must not end the request.
asio::awaitable<void> session_pool::open(std::shared_ptr<session_pool> self,
                                         std::shared_ptr<opening> opened, time_point give_up_at) {
    const in_flight::guard operation(self->keepers_);
    try {
        const auto sent_at = self->time_.now();
        auto id = co_await self->requests_->open(opened->ttl, give_up_at);
        opened->made = std::make_shared<pooled_session>(std::move(id), opened->ttl, sent_at);
        if (self->is_closed_) opened->failure = closed_pool_error();
    } catch (const error& failed) {
        opened->failure = failed;
    } catch (const std::exception& failed) {
        opened->failure = error(errc::exhausted, failed.what());
    }
    opened->is_done = true;
    std::erase(self->openings_, opened);
    if (!opened->failure) {
        self->sessions_.push_back(opened->made);
        asio::co_spawn(self->strand_, keep(self, opened->made), asio::detached);
    } else if (opened->made) {
        self->on_end(opened->made);
        co_await self->end_at_store(opened->made, opened->made->deadline());
    }
    self->changed_.notify_all();
}

// The renewals of holds prove their session every third of the ttl, so these heartbeats are for
// sessions without holds.
asio::awaitable<void> session_pool::keep(std::shared_ptr<session_pool> self, session_ptr session) {
    const in_flight::guard operation(self->keepers_);
    auto& time = self->time_;
    wakeup timer(time, self->strand_);
    session->timer_ = &timer;
    back_off pauses(time, {.first = session->ttl_ / 40, .longest = session->ttl_ / 8});
    auto earliest = time_point::min();  // the next heartbeat, after one without an answer
    while (!session->is_over_) {
        const auto now = time.now();
        const auto ends_at = std::min(session->deadline(), self->unused_at(*session));
        if (now >= ends_at) break;
        const auto due_at = session->is_wanted_ ? now : session->proved_at_ + session->ttl_ * 2 / 5;
        const auto next_at = std::max(due_at, earliest);
        if (next_at > now) {
            co_await timer.wait_until(std::min(next_at, ends_at));
            continue;
        }
        const bool is_answered = co_await self->send_heartbeat(session);
        if (is_answered) pauses.reset();
        earliest = is_answered ? time_point::min() : time.now() + pauses.next_pause();
    }
    session->timer_ = nullptr;
    if (session->is_over_) co_return;
    self->on_end(session);
    co_await self->end_at_store(session, time.now() + self->limits_.longest_request);
}

// An answer after the deadline revives nothing.
asio::awaitable<bool> session_pool::send_heartbeat(session_ptr session) {
    const auto sent_at = time_.now();
    session->is_wanted_ = false;
    bool is_alive = false;
    try {
        is_alive = co_await requests_->send_heartbeat(*session, request_limit(*session));
    } catch (const std::exception&) {
        co_return false;
    }
    if (!is_alive || time_.now() >= session->deadline())
        on_end(session);
    else
        session->proved_at_ = std::max(session->proved_at_, sent_at);
    changed_.notify_all();
    co_return true;
}

asio::awaitable<bool> session_pool::prove(session_ptr session, duration max_age,
                                          time_point give_up_at) {
    const auto oldest = time_.now() - max_age;
    use(*session);
    while (!session->is_over_ && session->proved_at_ < oldest && time_.now() < give_up_at) {
        session->is_wanted_ = true;
        if (session->timer_ != nullptr) session->timer_->notify();
        co_await changed_.wait_until(give_up_at);
    }
    co_return !session->is_over_ && session->proved_at_ >= oldest;
}

void session_pool::on_end(const session_ptr& ended) noexcept {
    if (std::exchange(ended->is_over_, true)) return;
    std::erase(sessions_, ended);
    if (ended->timer_ != nullptr) ended->timer_->notify();
    changed_.notify_all();
    requests_->on_session_end(*ended);
}

asio::awaitable<void> session_pool::end_at_store(session_ptr session, time_point give_up_at) {
    const auto self = shared_from_this();
    const in_flight::guard operation(keepers_);
    try {
        co_await requests_->end(*session, give_up_at);
    } catch (const std::exception&) {}  // it ends by itself after the ttl
}

void session_pool::abandon() noexcept {
    is_closed_ = true;
    while (!sessions_.empty())
        on_end(session_ptr(sessions_.back()));
}

asio::awaitable<void> session_pool::close(time_point give_up_at) {
    const auto self = shared_from_this();
    const auto ended = sessions_;
    abandon();
    if (time_.now() >= give_up_at) co_return;
    for (const auto& each : ended)
        asio::co_spawn(strand_, end_at_store(each, give_up_at), asio::detached);
    while (keepers_.must_wait(give_up_at))
        co_await keepers_.wait_until(give_up_at);
}

}  // namespace pawl::core
