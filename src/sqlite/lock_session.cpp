// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_session.hpp"

#include "core/store/waiting_attempt.hpp"
#include "core/util/random.hpp"
#include "core/util/wakeup.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sqlite {
namespace {

// At most this many notifications wait for the event loop; more are dropped.
constexpr unsigned max_posted_effects = 256;

// How long a request waits at least while others use the file, even if the caller's wait ends.
constexpr duration min_file_wait = std::chrono::milliseconds(300);

asio::awaitable<bool> was_cancelled() {
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() != asio::cancellation_type::none;
}

}  // namespace

// One claim, from its first request until it is granted, given up or failed.
class lock_session::acquire_attempt {
public:
    acquire_attempt(lock_session& session, const claim& requested, time_point give_up_at)
        : session_(session),
          requested_(requested),
          give_up_at_(give_up_at),
          attempt_(give_up_at),
          wakeup_(*session.context_.time, session.context_.strand) {}
    ~acquire_attempt() { session_.attempts_.erase(requested_.owner); }
    acquire_attempt(const acquire_attempt&) = delete;
    acquire_attempt& operator=(const acquire_attempt&) = delete;

    asio::awaitable<std::optional<grant>> run();
    // Ends the pause of the attempt in the queue. If `granted` is empty, the attempt reads the file
    // itself.
    void notify(const std::optional<attempt_result>& granted) {
        if (granted) notified_ = granted;
        wakeup_.notify();
    }

private:
    asio::awaitable<void> request();
    asio::awaitable<void> wait();
    asio::awaitable<void> refresh();
    asio::awaitable<void> leave();
    [[nodiscard]] grant to_grant(const attempt_result& result) const;

    lock_session& session_;
    const claim& requested_;
    const time_point give_up_at_;
    core::waiting_attempt attempt_;
    std::optional<attempt_result> notified_;
    core::wakeup wakeup_;
};

asio::awaitable<std::optional<grant>> lock_session::acquire_attempt::run() {
    using next_step = core::waiting_attempt::step;
    session_.attempts_.emplace(requested_.owner, this);
    for (;;) {
        const bool is_cancelled = co_await was_cancelled();
        if (is_cancelled) attempt_.cancel();
        const auto step = attempt_.next(session_.context_.time->now());
        if (step == next_step::end) break;
        switch (step) {
        case next_step::request: co_await request(); break;
        case next_step::wait: co_await wait(); break;
        case next_step::refresh: co_await refresh(); break;
        default: co_await leave(); break;
        }
    }
    if (attempt_.is_cancelled()) throw boost::system::system_error(asio::error::operation_aborted);
    if (attempt_.granted() == nullptr) co_return std::nullopt;
    if (attempt_.was_queued()) ++session_.context_.counts->hand_offs;
    co_return to_grant(*attempt_.granted());
}

// The deadline is computed from `expires`, not from the time of sending, because the file and this
// client use one clock. The margin is the one that every backend subtracts.
grant lock_session::acquire_attempt::to_grant(const attempt_result& result) const {
    const auto margin =
        drift(result.needs_renewal ? std::min(requested_.ttl, claim_window) : requested_.ttl);
    return {result.expires - margin, result.token, {}, result.needs_renewal};
}

// A transaction that failed has changed nothing, unless the memory ran out after its commit.
asio::awaitable<void> lock_session::acquire_attempt::request() {
    auto& time = *session_.context_.time;
    const bool may_wait = give_up_at_ > time.now();
    // What is left of a wait may be too short for a single transaction.
    const auto job = [this, may_wait, &time](store& file) {
        const duration longest_wait =
            may_wait ? std::max<duration>(give_up_at_ - time.now(), min_file_wait)
                     : session_.context_.try_limit;
        return file.try_acquire(requested_, may_wait, longest_wait);
    };
    std::optional<error> failure;
    try {
        const auto result = co_await session_.run(job);
        attempt_.on_result(result);
        co_return;
    } catch (const error& failed) {
        failure = failed;
    }
    if (failure->reason() == errc::exhausted) session_.undo_in_background(requested_);
    co_await throw_if_cancelled();
    throw error(*failure);
}

asio::awaitable<void> lock_session::acquire_attempt::wait() {
    auto& time = *session_.context_.time;
    const auto refresh_at = time.now() + core::random_between(time, 1000ms, 1500ms);
    try {
        co_await wakeup_.wait_until(attempt_.wakes_at(refresh_at));
    } catch (const boost::system::system_error&) {
        co_return;  // the attempt was cancelled
    }
    if (notified_)
        attempt_.on_result(*notified_);
    else
        attempt_.on_wakeup();
}

asio::awaitable<void> lock_session::acquire_attempt::leave() {
    const auto late_grant = co_await session_.leave(requested_, !attempt_.is_cancelled());
    attempt_.on_result(late_grant ? *late_grant : attempt_result{});
}

asio::awaitable<void> lock_session::acquire_attempt::refresh() {
    try {
        const auto result =
            co_await session_.run([this](store& file) { return file.refresh(requested_); });
        attempt_.on_result(result);
        co_return;
    } catch (const error& failed) {
        const bool is_transient = failed.is_transient();
        if (attempt_.on_failure(is_transient)) session_.undo_in_background(requested_);
        if (!is_transient) throw;
    }
}

lock_session::lock_session(store::settings store_settings, backend_context context,
                           const worker_factory& make_worker)
    : context_(std::move(context)),
      operations_(*context_.time, context_.strand),
      jobs_(*context_.time, context_.strand),
      worker_(make_worker(context_.strand, [this] {
          if (file_) file_->close();
      })) {
    file_ = std::make_unique<store>(
        std::move(store_settings), *context_.time, worker_->executor(),
        store::event_handlers{[this](const notification& message) { handle_notification(message); },
                              [this](const std::string& owner) { report_loss(owner); }});
}

lock_session::~lock_session() {
    worker_->stop();
    // In a fork the connection is the parent's, and closing it would damage the file.
    if (is_forked()) static_cast<void>(file_.release());
}

asio::awaitable<std::optional<grant>> lock_session::acquire(const claim& requested,
                                                            time_point give_up_at) {
    const core::in_flight::guard operation(operations_);
    acquire_attempt attempt(*this, requested, give_up_at);
    co_return co_await attempt.run();
}

asio::awaitable<std::optional<attempt_result>> lock_session::leave(const claim& requested,
                                                                   bool keep_grant) {
    try {
        co_return co_await run(
            [&requested, keep_grant](store& file) { return file.leave(requested, keep_grant); });
    } catch (const error&) {
        undo_in_background(requested);
    }
    co_return std::nullopt;
}

asio::awaitable<release_result> lock_session::release(const claim& requested) {
    const core::in_flight::guard operation(operations_);
    try {
        co_return co_await run([&requested](store& file) { return file.release(requested); });
    } catch (const error&) {
        undo_in_background(requested);
    }
    co_return release_result::unknown;
}

void lock_session::undo_in_background(const claim& requested) {
    asio::co_spawn(context_.strand, retry_undo(shared_from_this(), requested), asio::detached);
}

asio::awaitable<void> lock_session::retry_undo(std::shared_ptr<lock_session> self,
                                               claim requested) {
    const core::in_flight::guard operation(self->operations_);
    auto& time = *self->context_.time;
    const auto began = time.now();
    core::wakeup pause_timer(time, self->context_.strand);
    for (;;) {
        co_await pause_timer.wait_until(time.now() + core::random_between(time, 300ms, 600ms));
        // After the ttl there is nothing left to undo.
        if (self->worker_->is_stopped() || self->is_forked() || time.now() - began >= requested.ttl)
            co_return;
        try {
            // `leave` without `keep_grant` also releases a hold.
            co_await self->run([&requested](store& file) { return file.leave(requested, false); });
            co_return;
        } catch (const error& failed) {
            if (self->context_.log) self->context_.log(failed.what());
        }
    }
}

asio::awaitable<void> lock_session::close(time_point give_up_at) {
    const auto self = shared_from_this();
    if (is_forked()) co_return;
    while (operations_.must_wait(give_up_at))
        co_await operations_.wait_until(give_up_at);
    if (!operations_.empty()) file_->stop_waiting();
    co_await finish_jobs();
    co_await run([](store& file) { return file.close(), true; });
    co_await finish_jobs();
    worker_->stop();
}

asio::awaitable<void> lock_session::throw_if_cancelled() {
    const bool is_cancelled = co_await was_cancelled();
    if (is_cancelled) throw boost::system::system_error(asio::error::operation_aborted);
}

// Nobody waits for the file any more, and every operation was cancelled, so this is soon. The
// caller of a job that is dropped with the worker would never continue.
asio::awaitable<void> lock_session::finish_jobs() {
    while (!jobs_.empty())
        co_await jobs_.wait_until(time_point::max());
}

// Runs on the worker.
void lock_session::handle_notification(const notification& message) {
    ++context_.counts->pushes;
    std::optional<attempt_result> granted;
    try {
        if (message.type == notification::kind::latch)
            return post_effect(on_latch_notification(*file_, message.name));
        granted = file_->find_grant(message.name, message.owner);
    } catch (const error&) {
        if (message.type != notification::kind::granted)
            return;  // a refresh or the next renewal finds what the notification would have said
    }
    // The file says that the owner still holds the lock: the message is false.
    if (message.type == notification::kind::forced && granted) return;
    post_effect([this, message, granted] {
        if (message.type == notification::kind::forced)
            context_.listener->on_loss(message.owner, loss_reason::forced);
        else
            notify_attempt(message.owner, granted);
    });
}

// Any user of the host may send notifications, also while the event loop is busy, so their number
// is limited. A refresh or the next renewal finds what a dropped notification would have said.
void lock_session::post_effect(std::function<void()> effect) {
    if (posted_effects_ >= max_posted_effects) return;
    auto apply = [weak = weak_from_this(), effect = std::move(effect)] {
        const auto self = weak.lock();
        if (!self) return;
        --self->posted_effects_;
        effect();
    };
    ++posted_effects_;
    try {
        asio::post(context_.strand, std::move(apply));
    } catch (...) {
        --posted_effects_;
        throw;
    }
}

void lock_session::report_loss(const std::string& owner) {
    asio::post(context_.strand, [weak = weak_from_this(), owner] {
        if (const auto self = weak.lock())
            self->context_.listener->on_loss(owner, loss_reason::taken_over);
    });
}

void lock_session::notify_attempt(const std::string& owner,
                                  const std::optional<attempt_result>& granted) {
    const auto position = attempts_.find(owner);
    if (position != attempts_.end()) position->second->notify(granted);
}

}  // namespace pawl::sqlite
