// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "session_locks.hpp"

#include "database_client.hpp"

#include "../core/util/plus.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sql {
namespace {

constexpr duration session_connect_limit = 5s;
// What is left of a wait may be too short for a request.
constexpr duration shortest_attempt = 300ms;
// Sessions without a lock that are kept for the next one. The server ends them after their ttl.
constexpr std::size_t most_spare_sessions = 4;

using session_ptr = std::shared_ptr<lock_session>;

// Nothing but its end proves that a session without an answer does not get the lock later.
struct close_at_exit {
    session_ptr session;
    ~close_at_exit() {
        if (session) session->close();
    }
};

// An acquire. Its caller may go away at any time.
struct lock_attempt {
    lock_attempt(const claim& request, const backend_context& context)
        : requested(request), done(*context.time, context.strand) {}

    const claim requested;
    lock_key key;
    bool waits = false;
    time_point limit{};
    session_ptr session;
    std::optional<grant> granted;
    std::exception_ptr failure;
    bool is_done = false;
    bool is_abandoned = false;
    core::wakeup done;
};

// A release goes on when its caller has got no answer in time.
struct session_release {
    explicit session_release(const backend_context& context)
        : done(*context.time, context.strand) {}

    std::optional<bool> was_held;  // empty: not known
    bool is_done = false;
    core::wakeup done;
};

// The renewals of one call of `renew`.
struct renewal_round {
    renewal_round(renewal_batch& renewals, const backend_context& context)
        : batch(&renewals), done(*context.time, context.strand) {}

    renewal_batch* batch;  // null: the call has ended
    std::size_t unanswered = 0;
    core::wakeup done;
};

// Each hold has a session of its own.
class session_client final : public database_client,
                             public std::enable_shared_from_this<session_client> {
public:
    session_client(std::unique_ptr<lock_connector> database, const backend_context& context)
        : database_client(context), database_(std::move(database)) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested, time_point give_up_at);
    asio::awaitable<void> renew(renewal_batch& batch);
    asio::awaitable<release_result> release(const claim& requested);
    asio::awaitable<void> close(time_point give_up_at);

    // A session without a lock. Whoever has it puts it back, or closes it.
    asio::awaitable<session_ptr> get_session(time_point give_up_at);
    void put_back(session_ptr session);

    [[nodiscard]] lock_connector& database() const noexcept { return *database_; }
    // Why the last attempt to connect failed; empty after a success.
    [[nodiscard]] const std::string& connect_failure() const noexcept { return connect_failure_; }
    void count_request() noexcept { ++context_.counts->requests; }

private:
    [[nodiscard]] time_point limit_of(const lock_attempt& attempt, time_point give_up_at) const;
    static asio::awaitable<void> run(std::shared_ptr<session_client> self,
                                     std::shared_ptr<lock_attempt> attempt);
    asio::awaitable<void> lock(lock_attempt& attempt);
    void abandon(lock_attempt& attempt) noexcept;
    static asio::awaitable<void> unlock(std::shared_ptr<session_client> self, session_ptr session,
                                        duration ttl, std::shared_ptr<session_release> result);
    static asio::awaitable<void> prove(std::shared_ptr<session_client> self, session_ptr session,
                                       std::size_t index, std::shared_ptr<renewal_round> round);
    void on_session_end(const lock_session& ended, loss_reason reason);

    const std::unique_ptr<lock_connector> database_;
    std::map<std::string, session_ptr, std::less<>> holds_;  // by the claim's owner
    std::vector<session_ptr> spares_;
    std::string connect_failure_;
    bool is_closed_ = false;
};

time_point session_client::limit_of(const lock_attempt& attempt, time_point give_up_at) const {
    const auto present = now();
    if (give_up_at <= present) return try_deadline();
    const auto limit = std::max(give_up_at, present + shortest_attempt);
    return attempt.waits ? limit : std::min(limit, present + session_connect_limit);
}

asio::awaitable<std::optional<grant>> session_client::acquire(const claim& requested,
                                                              time_point give_up_at) {
    const auto began_at = now();
    const auto attempt = std::make_shared<lock_attempt>(requested, context_);
    attempt->key = database_->key_of(requested.name);
    // An attempt that finds the lock taken is repeated by the core.
    attempt->waits = give_up_at > began_at && requested.was_taken;
    attempt->limit = limit_of(*attempt, give_up_at);
    attempt->done.prepare();
    struct abandon_at_exit {
        session_client& client;
        lock_attempt& attempt;
        bool is_over = false;
        ~abandon_at_exit() {
            if (!is_over) client.abandon(attempt);
        }
    } guard{*this, *attempt};
    asio::co_spawn(context_.strand, run(shared_from_this(), attempt), asio::detached);
    while (!attempt->is_done && now() < attempt->limit)
        co_await attempt->done.wait_until(attempt->limit);
    if (!attempt->is_done) {
        if (attempt->waits) co_return std::nullopt;  // the attempt before found the lock taken
        throw error(errc::unreachable, database_->describe() + " did not answer within " +
                                           std::to_string((now() - began_at) / 1ms) + " ms.");
    }
    guard.is_over = true;
    if (attempt->failure) std::rethrow_exception(attempt->failure);
    co_return attempt->granted;
}

// Beside the caller, whose cancellation must not end what follows a request.
asio::awaitable<void> session_client::run(std::shared_ptr<session_client> self,
                                          std::shared_ptr<lock_attempt> attempt) {
    const core::in_flight::guard operation(self->operations_);
    try {
        co_await self->lock(*attempt);
    } catch (...) {
        attempt->failure = std::current_exception();
    }
    attempt->is_done = true;
    attempt->done.notify();
}

asio::awaitable<void> session_client::lock(lock_attempt& attempt) {
    const auto& requested = attempt.requested;
    // At the limit of a wait, the caller gives up first.
    const auto limit = attempt.waits ? core::plus(attempt.limit, 1s) : attempt.limit;
    const auto session = co_await get_session(limit);
    close_at_exit guard{session};
    attempt.session = session;
    if (attempt.is_abandoned) co_return put_back(std::move(guard.session));
    lock_request request{attempt.key, requested.mode, requested.ttl, attempt.waits};
    count_request();
    const auto answer = co_await session->lock(std::move(request), limit);
    if (!answer.is_granted) {
        if (!attempt.waits) put_back(std::move(guard.session));
        co_return;
    }
    if (attempt.is_abandoned || session->is_over()) co_return;
    grant made;
    made.deadline = answer.proved_at + requested.ttl - drift(requested.ttl);
    made.token = answer.token;
    made.stored_value = requested.owner;
    holds_.emplace(requested.owner, session);
    guard.session = nullptr;
    if (attempt.waits) ++context_.counts->hand_offs;
    attempt.granted = std::move(made);
}

void session_client::abandon(lock_attempt& attempt) noexcept {
    attempt.is_abandoned = true;
    // The session of an attempt that has failed may be another attempt's.
    if (attempt.is_done && !attempt.granted) return;
    holds_.erase(attempt.requested.owner);
    if (attempt.session) attempt.session->close();
}

asio::awaitable<session_ptr> session_client::get_session(time_point give_up_at) {
    while (!spares_.empty()) {
        const auto spare = spares_.back();
        spares_.pop_back();
        if (!spare->is_over()) co_return spare;
    }
    session_end_handler handler = [weak = weak_from_this()](const lock_session& ended,
                                                            loss_reason reason) {
        if (const auto self = weak.lock()) self->on_session_end(ended, reason);
    };
    session_ptr session;
    try {
        session = co_await database_->connect(std::move(handler),
                                              std::min(give_up_at, now() + session_connect_limit));
    } catch (const error& failed) {
        connect_failure_ = failed.what();
        throw;
    }
    connect_failure_.clear();
    ++context_.counts->connections;
    if (is_closed_) {
        session->close();
        throw error(errc::cancelled, "The client is closed.");
    }
    co_return session;
}

void session_client::put_back(session_ptr session) {
    if (session->is_over()) return;
    if (is_closed_ || spares_.size() == most_spare_sessions)
        session->close();
    else
        spares_.push_back(std::move(session));
}

// A session that does not answer within the ttl is closed, which ends its lock, too.
asio::awaitable<void> session_client::unlock(std::shared_ptr<session_client> self,
                                             session_ptr session, duration ttl,
                                             std::shared_ptr<session_release> result) {
    const core::in_flight::guard operation(self->operations_);
    try {
        self->count_request();
        result->was_held =
            co_await session->unlock(self->now() + std::max(ttl, self->context_.try_limit));
        self->put_back(session);
    } catch (const std::exception&) {
        session->close();
    }
    result->is_done = true;
    result->done.notify();
}

asio::awaitable<release_result> session_client::release(const claim& requested) {
    const auto position = holds_.find(requested.owner);
    if (position == holds_.end()) co_return release_result::expired;
    const auto session = position->second;
    holds_.erase(position);
    const auto result = std::make_shared<session_release>(context_);
    result->done.prepare();
    const auto limit = try_deadline();
    asio::co_spawn(context_.strand, unlock(shared_from_this(), session, requested.ttl, result),
                   asio::detached);
    while (!result->is_done && now() < limit)
        co_await result->done.wait_until(limit);
    if (!result->was_held) co_return release_result::unknown;
    co_return *result->was_held ? release_result::released : release_result::expired;
}

// The round trips of all sessions run at the same time.
asio::awaitable<void> session_client::renew(renewal_batch& batch) {
    const auto round = std::make_shared<renewal_round>(batch, context_);
    struct detach_at_exit {
        renewal_round& round;
        ~detach_at_exit() { round.batch = nullptr; }
    } const guard{*round};
    auto limit = now();
    for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
        const auto position = holds_.find(batch.renewals()[i].held->claim.owner);
        if (position == holds_.end()) {
            batch.settle(i, renewal::outcome::missing);
            continue;
        }
        limit = std::max(limit, batch.renewals()[i].useful_until);
        ++round->unanswered;
        asio::co_spawn(context_.strand, prove(shared_from_this(), position->second, i, round),
                       asio::detached);
    }
    while (round->unanswered > 0 && now() < limit)
        co_await round->done.wait_until(limit);
}

asio::awaitable<void> session_client::prove(std::shared_ptr<session_client> self,
                                            session_ptr session, std::size_t index,
                                            std::shared_ptr<renewal_round> round) {
    const core::in_flight::guard operation(self->operations_);
    if (round->batch != nullptr) {
        const auto asked_at = self->now();
        const auto limit = round->batch->renewals()[index].useful_until;
        try {
            self->count_request();
            co_await session->prove(limit);
            if (round->batch != nullptr) {
                const auto ttl = round->batch->renewals()[index].ttl;
                round->batch->settle(index, renewal::outcome::extended,
                                     asked_at + ttl - drift(ttl));
            }
        } catch (const std::exception&) {}  // unknown; the end of a session is told by itself
    }
    --round->unanswered;
    round->done.notify();
}

void session_client::on_session_end(const lock_session& ended, loss_reason reason) {
    std::erase_if(spares_, [&ended](const session_ptr& each) { return each.get() == &ended; });
    const auto position = std::ranges::find_if(
        holds_, [&ended](const auto& each) { return each.second.get() == &ended; });
    if (position == holds_.end()) return;
    const auto owner = position->first;
    holds_.erase(position);
    context_.listener->on_loss(owner, reason);
}

asio::awaitable<void> session_client::close(time_point give_up_at) {
    while (must_wait(give_up_at))
        co_await operations_.wait_until(give_up_at);
    is_closed_ = true;
    for (const auto& each : std::exchange(spares_, {}))
        each->close();
    for (const auto& [owner, session] : std::exchange(holds_, {}))
        session->close();
}

class session_backend final : public backend {
public:
    explicit session_backend(std::shared_ptr<session_client> client) : client_(std::move(client)) {}

    // Every coroutine keeps the client: its frame may be the last object that is destroyed.
    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        const core::in_flight::guard operation(client->operations());
        co_return co_await client->acquire(requested, give_up_at);
    }
    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto client = client_;
        if (client->is_forked()) co_return;
        const core::in_flight::guard operation(client->operations());
        co_await client->renew(batch);
    }
    asio::awaitable<release_result> release(const hold& requested) override {
        const auto client = client_;
        if (client->is_forked()) co_return release_result::unknown;
        const core::in_flight::guard operation(client->operations());
        co_return co_await client->release(requested.claim);
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        const auto question = [name](lock_session& asked, time_point limit) {
            return asked.inspect(std::string(name), limit);
        };
        co_return co_await ask(client_, question);
    }
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        const auto question = [prefix](lock_session& asked, time_point limit) {
            return asked.list(std::string(prefix), limit);
        };
        co_return co_await ask(client_, question);
    }
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        const auto question = [name, expected](lock_session& asked, time_point limit) {
            return asked.force_release(std::string(name), expected, limit);
        };
        co_return co_await ask(client_, question);
    }
    asio::awaitable<examination> examine() override {
        const auto question = [](lock_session& asked, time_point limit) {
            return asked.examine(limit);
        };
        co_return co_await ask(client_, question);
    }
    asio::awaitable<void> close(time_point give_up_at) override {
        const auto client = client_;
        co_await client->close(give_up_at);
    }
    [[nodiscard]] std::string unreachable_reason(std::string_view) const override {
        return client_->connect_failure();
    }
    [[nodiscard]] spi::capabilities capabilities() const noexcept override {
        return client_->database().capabilities();
    }
    [[nodiscard]] std::string capability_hint(lock_mode mode, bool fair) const override {
        return client_->database().capability_hint(mode, fair);
    }

private:
    // On a session without a lock, which is closed after a failure.
    template <class Question>
    static std::invoke_result_t<Question, lock_session&, time_point> ask(
        std::shared_ptr<session_client> client, Question question) {
        client->throw_if_forked();
        const core::in_flight::guard operation(client->operations());
        const auto limit = client->try_deadline();
        const auto session = co_await client->get_session(limit);
        close_at_exit guard{session};
        client->count_request();
        auto answer = co_await question(*session, limit);
        client->put_back(std::move(guard.session));
        co_return answer;
    }

    const std::shared_ptr<session_client> client_;
};

}  // namespace

std::unique_ptr<backend> make_session_backend(std::unique_ptr<lock_connector> database,
                                              const backend_context& context) {
    return std::make_unique<session_backend>(
        std::make_shared<session_client>(std::move(database), context));
}

}  // namespace pawl::sql
