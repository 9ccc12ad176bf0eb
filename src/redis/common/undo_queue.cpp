// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "undo_queue.hpp"

#include "../topology/connected_link.hpp"
#include "../transport/server_errors.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

// However `run` ended, even by a lack of memory, the next undo can start it again.
class undo_queue::run_guard {
public:
    explicit run_guard(std::shared_ptr<undo_queue> self) noexcept : self_(std::move(self)) {}
    ~run_guard() { self_->is_running_ = false; }
    run_guard(const run_guard&) = delete;
    run_guard& operator=(const run_guard&) = delete;

private:
    const std::shared_ptr<undo_queue> self_;
};

// An undo in flight. If `send` ends without a result, or never begins, the destructor counts the
// undo as failed.
class undo_queue::send_guard {
public:
    send_guard(std::shared_ptr<undo_queue> self, iterator position) noexcept
        : self_(std::move(self)), position_(position) {
        position_->is_in_flight_ = true;
        ++self_->in_flight_;
    }
    send_guard(send_guard&&) noexcept = default;
    send_guard& operator=(send_guard&&) = delete;
    ~send_guard() {
        if (!self_) return;
        --self_->in_flight_;
        position_->is_in_flight_ = false;
        if (self_->is_stopped_) {
            self_->erase(position_);
            self_->notify_if_empty();
        } else {
            self_->handle_failure(position_, self_->context_.time->now());
        }
        self_->changed_.notify();
    }

    [[nodiscard]] const entry& sent() const noexcept { return *position_; }
    void finish(outcome result) {
        const auto self = std::exchange(self_, nullptr);
        --self->in_flight_;
        self->settle(position_, result);
        self->resume();
    }

private:
    std::shared_ptr<undo_queue> self_;
    iterator position_;
};

undo_queue::undo_queue(std::shared_ptr<topology> servers, const link& server_link,
                       backend_context context, const limits& bounds, duration reply_timeout)
    : servers_(std::move(servers)),
      link_(server_link),
      context_(std::move(context)),
      bounds_(bounds),
      reply_timeout_(reply_timeout),
      back_off_(*context_.time, bounds.pauses()),
      changed_(*context_.time, context_.strand),
      emptied_(*context_.time, context_.strand) {
    changed_.prepare();
    emptied_.prepare();
}

undo_queue::prepared_entry undo_queue::prepare(undo action) {
    prepared_entry entries;
    entries.emplace_back(std::move(action));
    return entries;
}

void undo_queue::add(prepared_entry prepared_undo, duration lease, const origin& sent) noexcept {
    if (is_stopped_ || made_in_.is_forked()) return;
    const auto now = context_.time->now();
    auto& added = prepared_undo.front();
    added.due_ = now;
    added.lease_end_ = now + lease + reply_timeout_;
    added.connection_number_ = sent.connection_number;
    added.may_be_elsewhere_ = sent.asked_elsewhere != servers_->asked_elsewhere();
    entries_.splice(entries_.end(), prepared_undo);
    ++unconfirmed_;
    start_due(now);
    resume();
}

void undo_queue::resume() noexcept {
    if (is_running_) return changed_.notify();
    if (entries_.empty()) return;
    is_running_ = true;
    try {
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    } catch (...) {
        is_running_ = false;
    }
}

bool undo_queue::contains(std::string_view lock, std::string_view value) const {
    return std::ranges::any_of(entries_, [&](const entry& each) {
        return each.action.lock == lock && each.action.value == value;
    });
}

void undo_queue::retry_now() {
    retry_at_ = context_.time->now();
    resume();
}

// Before each request, so it must not look at all entries.
bool undo_queue::is_full() const noexcept { return unconfirmed_ >= bounds_.max_undos; }

undo_queue::iterator undo_queue::erase(iterator position) noexcept {
    if (!position->has_enough_confirmations()) --unconfirmed_;
    return entries_.erase(position);
}

template <class Condition>
void undo_queue::erase_if(Condition is_meant) {
    for (auto position = entries_.begin(); position != entries_.end();)
        position = is_meant(*position) ? erase(position) : std::next(position);
}

void undo_queue::begin_shutdown() {
    is_closing_ = true;
    erase_if(
        [](const entry& each) { return !each.is_in_flight_ && each.has_enough_confirmations(); });
    notify_if_empty();
    retry_now();
}

void undo_queue::stop() {
    is_stopped_ = true;
    erase_if([](const entry& each) { return !each.is_in_flight_; });
    notify_if_empty();
    changed_.notify();
}

asio::awaitable<void> undo_queue::wait_until_empty(time_point deadline) {
    while (!entries_.empty() && context_.time->now() < deadline)
        co_await emptied_.wait_until(deadline);
}

asio::awaitable<void> undo_queue::run(std::shared_ptr<undo_queue> self) {
    const run_guard guard(std::move(self));
    while (!entries_.empty()) {
        if (made_in_.is_forked() && !is_stopped_) stop();
        const auto now = context_.time->now();
        drop_expired(now);
        start_due(now);
        if (entries_.empty()) break;
        co_await changed_.wait_until(next_start());
    }
}

void undo_queue::log(const std::string& line) const noexcept {
    try {
        if (context_.log) context_.log(line);
    } catch (...) {}  // without memory, nothing is logged
}

void undo_queue::drop_expired(time_point now) {
    for (auto position = entries_.begin(); position != entries_.end();) {
        if (position->is_in_flight_ || !is_expired(*position, now)) {
            ++position;
            continue;
        }
        const bool is_done = position->has_enough_confirmations();
        const auto expired = std::move(position->action.lock);
        position = erase(position);
        if (is_done) continue;
        log(expired +
            ": a request without an answer could not be undone; what it may have taken ends with "
            "its lease.");
    }
    notify_if_empty();
}

// An undo that the server never answered does not expire. The server may have been stopped for
// longer than the lease, and may then still execute the original request, so that the lock would be
// held for a whole lease.
bool undo_queue::is_expired(const entry& candidate, time_point now) const noexcept {
    const bool only_repetitions_fail = is_failing_ && candidate.has_enough_confirmations();
    return (candidate.was_refused_ || only_repetitions_fail) && candidate.lease_end_ <= now;
}

bool undo_queue::needs_no_repetition(const entry& candidate, time_point now) const noexcept {
    const bool is_same_server = &servers_->link_of(candidate.action.lock) == &link_;
    if (is_same_server && !candidate.may_be_elsewhere_ &&
        link_.current().connection_number == candidate.connection_number_)
        return true;
    if (!candidate.has_enough_confirmations()) return false;
    const bool no_room = entries_.size() > 2 * bounds_.max_undos;
    return is_closing_ || !candidate.action.value.empty() || no_room || candidate.lease_end_ <= now;
}

void undo_queue::start_due(time_point now) noexcept {
    for (auto next = entries_.begin(); next != entries_.end();) {
        // An undo that ends at once erases or moves its entry, and may begin a pause.
        if (is_failing_ && now < retry_at_) return;
        if (in_flight_ >= (is_failing_ ? 1 : bounds_.max_concurrent_undos)) return;
        const auto position = next++;
        if (!position->is_in_flight_ && position->due_ <= now && !is_expired(*position, now))
            start(position);
    }
}

// Skips undos in flight: each notifies `changed_` when it ends.
time_point undo_queue::next_start() const {
    const auto max_in_flight = is_failing_ ? 1 : bounds_.max_concurrent_undos;
    auto next = time_point::max();
    for (const auto& each : entries_) {
        if (each.is_in_flight_) continue;
        if (each.was_refused_ || (is_failing_ && each.has_enough_confirmations()))
            next = std::min(next, each.lease_end_);
        if (in_flight_ < max_in_flight) next = std::min(next, std::max(each.due_, retry_at_));
    }
    return next;
}

// The undo may already have ended when co_spawn returns, or when it throws for lack of memory. So
// only the guard counts the undo.
void undo_queue::start(iterator position) noexcept {
    try {
        asio::co_spawn(context_.strand, send(send_guard(shared_from_this(), position)),
                       asio::detached);
    } catch (...) {}  // the guard counts the undo as failed
}

asio::awaitable<void> undo_queue::send(send_guard guard) {
    auto result = outcome::failed;
    try {
        result = co_await try_undo(guard.sent());
    } catch (const error& e) {
        // errc::protocol: no script returns the reply that came, and a repeated request would get
        // the same one. Without a connection, the error is from a handshake, perhaps with another
        // server, and says nothing about the undo.
        const auto& asked_link = servers_->link_of(guard.sent().action.lock);
        if (e.reason() == errc::protocol && asked_link.connected()) {
            result = outcome::impossible;
            log(e.what());
        }
    } catch (const std::exception&) {}
    guard.finish(result);
}

asio::awaitable<undo_queue::outcome> undo_queue::try_undo(const entry& tried) {
    const auto deadline = std::max(tried.lease_end_, context_.time->now() + reply_timeout_);
    co_await connected_link_of(*servers_, tried.action.lock, deadline);
    const auto reply = co_await tried.action.send(deadline);
    if (reply.type != reply::kind::error) co_return outcome::confirmed;
    // A missing permission may be granted later; a closing client does not wait for that.
    const auto& words = reply.text;
    if (proves_no_change(words) || (may_succeed_later(words) && !is_closing_))
        co_return outcome::refused;
    if (context_.log)
        context_.log(to_error(words, tried.action.lock).what() +
                     std::string(" A request without an answer cannot be undone; what it may have "
                                 "taken ends with its lease."));
    co_return outcome::impossible;
}

void undo_queue::settle(iterator position, outcome result) {
    position->is_in_flight_ = false;
    const auto now = context_.time->now();
    if (result == outcome::refused) position->was_refused_ = true;
    if (result == outcome::confirmed) position->was_refused_ = false;
    if ((result == outcome::failed || result == outcome::refused) && !is_stopped_)
        return handle_failure(position, now);
    is_failing_ = false;
    retry_at_ = now;
    back_off_.reset();
    if (++position->confirmations_ == required_confirmations) --unconfirmed_;
    if (is_stopped_ || result != outcome::confirmed || needs_no_repetition(*position, now)) {
        erase(position);
        return notify_if_empty();
    }
    // After the required confirmations the pauses double. So an original request that arrives after
    // a delay d is undone at most about d later.
    position->pause_ = position->has_enough_confirmations()
                           ? 2 * position->pause_
                           : core::random_between(*context_.time, 100ms, 400ms);
    position->due_ = std::max(now, std::min(now + position->pause_, position->lease_end_));
}

// Moves the undo to the end, so that another undo is tried next: the server may refuse only this
// one.
void undo_queue::handle_failure(iterator position, time_point now) {
    entries_.splice(entries_.end(), entries_, position);
    if (is_failing_ && now < retry_at_) return;  // one pause for undos that were sent together
    is_failing_ = true;
    retry_at_ = now + back_off_.next_pause();
}

}  // namespace pawl::redis
