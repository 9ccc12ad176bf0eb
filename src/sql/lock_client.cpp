// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_client.hpp"

#include "../core/store/waiting_attempt.hpp"
#include "../core/util/random.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sql {
namespace {

// What is left of a wait may be too short for a request; and a server that does not answer for so
// long has a request of its own undone and repeated.
constexpr duration shortest_request = 300ms;
constexpr duration longest_request = 5s;

constexpr core::pause_lengths undo_pauses{.first = 200ms, .longest = 1s};

// Of a request behind a proxy that shares sessions, after its client gave it up. Nobody tells when
// it can no longer arrive: the proxy's sessions outlive their clients.
constexpr duration latest_arrival = 6s;

// The first waiter looks at the end of the lease that it knows of. The others look so much later:
// the holder and all waiters before them may have stopped together.
constexpr duration later_from = 5s, later_until = 8s;
// All look at the latest after so long: a message may have been lost.
constexpr duration latest_from = 30s, latest_until = 40s;

// The renewals of a hold with a longer ttl are too rare to notice a forced release.
constexpr duration longest_unheard = 1min;

// The longest lease of a waiter that was granted the lock, which it must renew: serve() in the
// schema.
constexpr duration claim_window = 1800ms;

asio::awaitable<bool> was_cancelled() {
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() != asio::cancellation_type::none;
}

// True: the request had no effect. An answer that is not understood may be one to a grant.
bool changed_nothing(const error& failed) noexcept {
    return failed.reason() != errc::unreachable && failed.reason() != errc::protocol;
}

error restarted_error(const connector& database) {
    return {errc::unavailable,
            database.describe() + " has restarted or failed over; the request is repeated."};
}

}  // namespace

// One claim, from its request until it is granted, given up or failed.
class lock_client::acquire_attempt {
public:
    acquire_attempt(lock_client& client, const claim& requested, time_point give_up_at)
        : client_(client),
          requested_(requested),
          give_up_at_(give_up_at),
          attempt_(give_up_at),
          wakeup_(*client.context_.time, client.context_.strand) {
        client_.attempts_.emplace(requested_.owner, this);
    }
    ~acquire_attempt() { client_.attempts_.erase(requested_.owner); }
    acquire_attempt(const acquire_attempt&) = delete;
    acquire_attempt& operator=(const acquire_attempt&) = delete;

    asio::awaitable<std::optional<grant>> run();
    // Ends the pause of the attempt in the queue. Without a grant, it asks the database.
    void notify(const message& received);
    void on_session_end(const std::string& client);

private:
    asio::awaitable<void> ask(std::string_view function);
    asio::awaitable<void> wait();
    asio::awaitable<void> leave();
    void update(const core::attempt_result& result) {
        attempt_.on_result(result);
        plan_refresh(result.expires);
    }
    // Chooses when the place is looked at, if no message comes before.
    void plan_refresh(time_point lease_end);
    void undo() { client_.undo_in_background(requested_, claimed_by_); }
    [[nodiscard]] time_point request_limit() const;
    [[nodiscard]] bool has_pushed_grant() const noexcept {
        return pushed_ && pushed_->outcome == core::attempt_result::kind::granted;
    }
    [[nodiscard]] grant to_grant(const core::attempt_result& result) const;

    lock_client& client_;
    const claim& requested_;
    const time_point give_up_at_;
    core::waiting_attempt attempt_;
    std::string claimed_by_;  // the session that sent the claim
    time_point asked_at_{};   // before the claim was sent
    std::int64_t clock_ = 0;  // the server's when it answered
    bool is_pushed_ = true;
    bool has_lost_place_ = false;
    time_point refresh_at_ = time_point::max();
    std::optional<core::attempt_result> pushed_;
    core::wakeup wakeup_;
};

asio::awaitable<std::optional<grant>> lock_client::acquire_attempt::run() {
    using next_step = core::waiting_attempt::step;
    for (;;) {
        const bool is_cancelled = co_await was_cancelled();
        if (is_cancelled) attempt_.cancel();
        const auto step = attempt_.next(client_.now());
        if (step == next_step::end) break;
        switch (step) {
        case next_step::request: co_await ask("acquire"); break;
        case next_step::wait: co_await wait(); break;
        case next_step::refresh: co_await ask("refresh"); break;
        default: co_await leave(); break;
        }
    }
    if (attempt_.is_cancelled()) throw boost::system::system_error(asio::error::operation_aborted);
    if (attempt_.granted() == nullptr) co_return std::nullopt;
    if (attempt_.was_queued()) ++client_.context_.counts->hand_offs;
    co_return to_grant(*attempt_.granted());
}

time_point lock_client::acquire_attempt::request_limit() const {
    const auto now = client_.now();
    if (give_up_at_ <= now && !attempt_.was_queued()) return client_.try_deadline();
    return now + std::clamp(give_up_at_ - now, shortest_request, longest_request);
}

grant lock_client::acquire_attempt::to_grant(const core::attempt_result& result) const {
    grant granted;
    const auto lease =
        result.needs_renewal ? std::min(requested_.ttl, claim_window) : requested_.ttl;
    granted.deadline = result.expires - drift(lease);
    if (requested_.fenced) granted.token = result.token;
    granted.stored_value = requested_.value.empty() ? requested_.owner : requested_.value;
    granted.needs_renewal = result.needs_renewal;
    return granted;
}

// A request whose answer is missing is undone. A place belongs to the session that sent the claim:
// without it, the attempt ends, and the core repeats it under another owner.
asio::awaitable<void> lock_client::acquire_attempt::ask(std::string_view function) {
    std::optional<error> failure;
    bool is_sent = false;
    try {
        const auto used = co_await client_.sessions_->get(request_limit());
        if (claimed_by_.empty()) {
            claimed_by_ = used->facts().client;
            is_pushed_ = used->facts().is_pushed;
        }
        has_lost_place_ = is_pushed_ && used->facts().client != claimed_by_;
        if (has_lost_place_)
            throw no_answer(client_.sessions_->database().describe() +
                            ": the connection was lost during the wait.");
        const auto asked_at = client_.now();
        const bool was_listening = used->is_listening();
        const bool may_wait = give_up_at_ > asked_at || attempt_.was_queued();
        const call request = attempt_call(function, client_.caller_on(*used), requested_, may_wait);
        is_sent = true;
        const auto answer = co_await client_.run_on(used, request, request_limit());
        if (answer.empty()) throw unexpected_answer(function);
        const auto result = read_attempt(requested_, answer.front(), asked_at, client_.now());
        asked_at_ = asked_at;
        clock_ = std::max<std::int64_t>(0, number_in(answer.front(), 5));
        update(result);
        const bool is_waiting = result.outcome == core::attempt_result::kind::waiting;
        const bool is_long = attempt_.granted() != nullptr && requested_.ttl > longest_unheard;
        if (is_pushed_ && (is_waiting || is_long)) used->listen();
        if (is_pushed_ && is_waiting && !was_listening) attempt_.on_wakeup();
        co_return;
    } catch (const error& failed) {
        failure = failed;
        if (changed_nothing(failed)) is_sent = false;
        if (changed_nothing(failed) && failed.is_transient() && attempt_.was_queued() &&
            !has_lost_place_) {
            static_cast<void>(attempt_.on_failure(true));
            auto& time = *client_.context_.time;
            refresh_at_ = time.now() + core::random_between(time, 300ms, 600ms);
            co_return;
        }
    } catch (const boost::system::system_error&) {}  // cancelled
    const bool is_cancelled = co_await was_cancelled();
    if (is_sent || attempt_.was_queued()) undo();
    static_cast<void>(attempt_.on_failure(false));
    if (is_cancelled) throw boost::system::system_error(asio::error::operation_aborted);
    if (failure) throw error(*failure);
}

// A lease that is renewed meanwhile costs one look, and no lease ends without one.
void lock_client::acquire_attempt::plan_refresh(time_point lease_end) {
    auto& time = *client_.context_.time;
    const auto now = time.now();
    if (!is_pushed_) {
        refresh_at_ = now + core::random_between(time, 1000ms, 1500ms);
        return;
    }
    const auto later = core::random_between(time, later_from, later_until);
    const auto latest = now + core::random_between(time, latest_from, latest_until);
    const bool knows_end = client_.is_hearing_ && lease_end != time_point::max();
    refresh_at_ = std::min((knows_end ? std::max(now, lease_end) : now) + later, latest);
}

asio::awaitable<void> lock_client::acquire_attempt::wait() {
    try {
        if (!pushed_ && !has_lost_place_)
            co_await wakeup_.wait_until(attempt_.wakes_at(refresh_at_));
    } catch (const boost::system::system_error&) {
        co_return;  // the attempt was cancelled
    }
    if (pushed_) {
        const auto result = *std::exchange(pushed_, std::nullopt);
        update(result);
    } else {
        attempt_.on_wakeup();
    }
}

asio::awaitable<void> lock_client::acquire_attempt::leave() {
    const bool keep = !attempt_.is_cancelled();
    if (!keep) {  // no request is without an answer
        client_.undo_in_background(requested_, {});
        attempt_.on_result({});
        co_return;
    }
    core::attempt_result result;
    try {
        const auto used = co_await client_.sessions_->get(request_limit());
        const auto asked_at = client_.now();
        const call request = leave_call(client_.caller_on(*used), requested_, claimed_by_, keep);
        const auto answer = co_await client_.run_on(used, request, request_limit());
        if (status_of(answer) == 'g')
            result = read_attempt(requested_, answer.front(), asked_at, client_.now());
    } catch (const std::exception&) {
        undo();
    }
    attempt_.on_result(result);
}

// The lease of a pushed grant began no earlier than the server's clock says, counted from the time
// at which the last request was sent. A message that comes too late makes the attempt ask.
void lock_client::acquire_attempt::notify(const message& received) {
    const auto now = client_.now();
    core::attempt_result result;
    if (received.kind == 'g' && clock_ != 0) {
        const auto since_answer = limited_milliseconds((received.clock - clock_) / 1000);
        result.outcome = core::attempt_result::kind::granted;
        const auto lease = std::min(received.span, claim_window);
        result.expires = std::min(asked_at_ + since_answer, now) + lease;
        result.token = received.token;
        result.needs_renewal = true;
        if (to_grant(result).deadline > now) pushed_ = result;
    } else if (received.kind == 'n' && !has_pushed_grant()) {  // messages may change their order
        result.outcome = core::attempt_result::kind::waiting;
        result.expires = now + received.span;
        result.is_first = true;
        pushed_ = result;
    }
    wakeup_.notify();
}

void lock_client::acquire_attempt::on_session_end(const std::string& client) {
    if (!is_pushed_ || client != claimed_by_) return;
    has_lost_place_ = true;
    wakeup_.notify();
}

std::shared_ptr<lock_client> lock_client::make(std::unique_ptr<connector> database,
                                               std::string name_space,
                                               const backend_context& context) {
    auto made = std::make_shared<lock_client>(std::move(name_space), context);
    const auto weak = made->weak_from_this();
    session_keeper::handlers events{[weak](std::string_view text) {
                                        if (const auto self = weak.lock()) self->on_message(text);
                                    },
                                    [weak](const std::string& client) {
                                        if (const auto self = weak.lock())
                                            self->on_session_end(client);
                                    },
                                    [weak] {
                                        if (const auto self = weak.lock())
                                            self->context_.listener->on_possible_loss();
                                    },
                                    [weak](bool is_hearing) {
                                        if (const auto self = weak.lock())
                                            self->on_hearing(is_hearing);
                                    }};
    made->sessions_ =
        std::make_shared<session_keeper>(std::move(database), context, std::move(events));
    return made;
}

lock_client::lock_client(std::string name_space, const backend_context& context)
    : one_session_client(context),
      name_space_(std::move(name_space)),
      process_(process_text(context.process)) {}

asio::awaitable<std::vector<row>> lock_client::run_on(const std::shared_ptr<session>& used,
                                                      const call& request, time_point give_up_at) {
    ++context_.counts->requests;
    auto answer = co_await used->run(request, give_up_at);
    if (asks_for_hello(request.function, answer)) {
        sessions_->end(used);
        throw restarted_error(sessions_->database());
    }
    co_return answer;
}

asio::awaitable<std::optional<grant>> lock_client::acquire(const claim& requested,
                                                           time_point give_up_at) {
    const core::in_flight::guard operation(operations_);
    acquire_attempt attempt(*this, requested, give_up_at);
    co_return co_await attempt.run();
}

asio::awaitable<std::vector<grant>> lock_client::acquire_batch(std::span<const claim> claims,
                                                               time_point give_up_at) {
    const core::in_flight::guard operation(operations_);
    const auto limit =
        give_up_at > now() ? std::min(give_up_at, now() + longest_request) : try_deadline();
    std::string claimed_by;
    std::exception_ptr failure;
    try {
        const auto used = co_await sessions_->get(limit);
        const call request = batch_call(caller_on(*used), claims);
        const auto asked_at = now();
        claimed_by = used->facts().client;
        const auto answer = co_await run_on(used, request, limit);
        if (!answer.empty() && answer.size() != claims.size())
            throw unexpected_answer("acquire_batch");
        if (!answer.empty() && claims.front().ttl > longest_unheard) used->listen();
        std::vector<grant> grants;
        for (std::size_t i = 0; i < answer.size(); ++i) {
            grant granted;
            granted.deadline = asked_at + claims[i].ttl - drift(claims[i].ttl);
            granted.stored_value = claims[i].owner;
            const auto token = static_cast<std::uint64_t>(number_in(answer[i], 0));
            if (claims[i].fenced) granted.token = fencing_token(token);
            grants.push_back(std::move(granted));
        }
        co_return grants;
    } catch (const error& failed) {
        if (changed_nothing(failed)) claimed_by.clear();
        failure = std::current_exception();
    } catch (...) {
        failure = std::current_exception();
    }
    if (!claimed_by.empty())
        for (const auto& each : claims)
            undo_in_background(each, claimed_by);
    std::rethrow_exception(failure);
}

// A release whose answer is missing, because its session has ended, is sent once more.
asio::awaitable<release_result> lock_client::release(const claim& requested) {
    const core::in_flight::guard operation(operations_);
    const auto limit = try_deadline();
    std::string claimed_by;
    for (int sent = 0; sent < 2 && now() < limit; ++sent) {
        try {
            const auto used = co_await sessions_->get(limit);
            claimed_by = used->facts().client;
            const call request = release_call(caller_on(*used), requested);
            const auto answer = co_await run_on(used, request, limit);
            const auto result = read_release(status_of(answer));
            // The lost request may have released it.
            if (sent == 0 || result == release_result::released) co_return result;
            co_return release_result::unknown;
        } catch (const std::exception&) {}
    }
    undo_in_background(requested, claimed_by);
    co_return release_result::unknown;
}

void lock_client::undo_in_background(const claim& requested, const std::string& claimed_by) {
    asio::co_spawn(context_.strand, undo(shared_from_this(), requested, claimed_by),
                   asio::detached);
}

asio::awaitable<void> lock_client::undo(std::shared_ptr<lock_client> self, claim requested,
                                        std::string claimed_by) {
    const core::in_flight::guard operation(self->operations_);
    auto& time = *self->context_.time;
    const auto began_at = time.now();
    const auto ends_at = began_at + requested.ttl;
    bool is_pushed = true;
    core::back_off pauses(time, undo_pauses);
    core::wakeup pause_timer(time, self->context_.strand);
    const auto compose = [&](const caller& from) {
        is_pushed = from.facts.is_pushed;
        return leave_call(from, requested, claimed_by, false);
    };
    while (!self->is_forked()) {
        try {
            const auto answer = co_await self->run(compose, self->try_deadline());
            const bool session_is_over = !answer.empty() && flag_in(answer.front(), 3);
            const bool is_known =
                is_pushed || claimed_by.empty() || time.now() - began_at >= latest_arrival;
            if (session_is_over && is_known) co_return;
        } catch (const std::exception&) {}  // repeated
        const auto next_at = time.now() + pauses.next_pause();
        if (next_at >= ends_at || self->is_closing_) co_return;
        co_await pause_timer.wait_until(next_at);
    }
}

// Any program may send messages. Only the database and this client know the owner in that of a
// grant; that of a forced release is confirmed.
void lock_client::on_message(std::string_view text) {
    ++context_.counts->pushes;
    const auto received = parse_message(text);
    const auto position = attempts_.find(received.subject);
    switch (received.kind) {
    case 'g':
    case 'n':
    case 'w':
        if (position != attempts_.end()) position->second->notify(received);
        break;
    case 'f':
        asio::co_spawn(
            context_.strand,
            confirm_loss(shared_from_this(), std::string(received.subject), name_of(received.name)),
            asio::detached);
        break;
    case 'l':
        if (on_latch) on_latch(name_of(received.name));
        break;
    default: break;
    }
}

asio::awaitable<void> lock_client::confirm_loss(std::shared_ptr<lock_client> self,
                                                std::string owner, std::string name) {
    const auto compose = [&](const caller& from) { return inspect_call(from, name, false); };
    try {
        const auto rows = co_await self->run(compose, self->try_deadline());
        const auto holds = [&](const row& each) { return text_in(each, 3) == owner; };
        // A claim that waits again, without the grant that it did not know of, has lost nothing.
        if (std::ranges::none_of(rows, holds) && !self->attempts_.contains(owner))
            self->context_.listener->on_loss(owner, loss_reason::forced);
    } catch (const std::exception&) {
        self->context_.listener->on_possible_loss();
    }
}

void lock_client::on_session_end(const std::string& client) {
    for (const auto& [owner, attempt] : attempts_)
        attempt->on_session_end(client);
    if (on_latch) on_latch({});
    is_hearing_ = true;
}

// The plans of the waiters count on messages.
void lock_client::on_hearing(bool is_hearing) {
    if (std::exchange(is_hearing_, is_hearing) == is_hearing || is_hearing) return;
    for (const auto& [owner, attempt] : attempts_)
        attempt->notify({});
    if (on_latch) on_latch({});
}

}  // namespace pawl::sql
