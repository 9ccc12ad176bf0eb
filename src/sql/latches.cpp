// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latches.hpp"

#include "../core/util/random.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sql {
namespace {

call look_call(const caller& from, const std::string& name, const std::string& waiter,
               bool is_waiting) {
    return {"latch_look",
            {from.name_space, stored_text(name), waiter, from.facts.client,
             from.place_kind(is_waiting)}};
}

// Not known if there is no row, or it has no count.
core::latch_state read_state(const std::vector<row>& answer, time_point now) {
    core::latch_state state;
    if (answer.empty() || answer.front().empty() || !answer.front()[0]) return state;
    const auto& columns = answer.front();
    state.known = true;
    state.count = static_cast<std::uint64_t>(number_in(columns, 0));
    state.generation = static_cast<std::uint64_t>(number_in(columns, 1));
    state.first = static_cast<std::uint64_t>(number_in(columns, 2));
    state.expires = now + milliseconds_in(columns, 4);
    return state;
}

}  // namespace

// Wakes reach it until it goes out of scope. The row of the waiter is deleted in the background.
class table_latches::latch_wait {
public:
    latch_wait(table_latches& owner, const std::string& name)
        : owner_(owner),
          waiter_(core::random_hex(*owner.client_->context().time, 16)),
          wakeup_(*owner.client_->context().time, owner.client_->context().strand),
          position_(owner.waiters_->emplace(name, &wakeup_)) {}
    ~latch_wait() {
        auto name = position_->first;
        owner_.waiters_->erase(position_);
        try {
            asio::co_spawn(owner_.client_->context().strand,
                           leave(owner_.client_, std::move(name), std::move(waiter_)),
                           asio::detached);
        } catch (...) {}  // no memory: an inspection removes the row after the session's end
    }
    latch_wait(const latch_wait&) = delete;
    latch_wait& operator=(const latch_wait&) = delete;

    [[nodiscard]] const std::string& id() const noexcept { return waiter_; }
    core::wakeup& wakeup() noexcept { return wakeup_; }

private:
    table_latches& owner_;
    std::string waiter_;
    core::wakeup wakeup_;
    waiter_table::iterator position_;
};

table_latches::table_latches(std::shared_ptr<lock_client> client) : client_(std::move(client)) {
    // Without a name, the session has ended: every waiter must join again.
    client_->on_latch = [weak = std::weak_ptr(waiters_)](std::string_view name) {
        const auto waiters = weak.lock();
        if (!waiters) return;
        const auto begin = name.empty() ? waiters->begin() : waiters->lower_bound(name);
        const auto end = name.empty() ? waiters->end() : waiters->upper_bound(name);
        for (auto position = begin; position != end; ++position)
            position->second->notify();
    };
}

asio::awaitable<bool> table_latches::try_set(std::string_view name, std::uint32_t count,
                                             duration ttl) {
    const auto client = client_;
    const auto compose = [name = std::string(name), count, ttl](const caller& from) {
        return call{"latch_set",
                    {from.name_space, stored_text(name), std::int64_t{count}, count_ms(ttl)},
                    true};
    };
    const auto answer = co_await client->run(compose, client->try_deadline());
    co_return status_of(answer) == 'y';
}

asio::awaitable<latches::step> table_latches::count_down(std::string_view name,
                                                         std::uint32_t steps) {
    return send_step(std::string(name), steps, 0, {});
}

asio::awaitable<latches::step> table_latches::arrive(std::string_view name, std::uint32_t parties,
                                                     duration ttl) {
    return send_step(std::string(name), 1, parties, ttl);
}

asio::awaitable<latches::step> table_latches::send_step(std::string name, std::uint32_t steps,
                                                        std::uint32_t parties, duration ttl) {
    const auto client = client_;
    auto& time = *client->context().time;
    const auto request = core::random_hex(time, 16);
    const auto compose = [&](const caller& from) {
        return call{"latch_step",
                    {from.name_space, stored_text(name), request, std::int64_t{steps},
                     std::int64_t{parties}, count_ms(ttl)},
                    true};
    };
    const auto give_up_at = client->try_deadline();
    core::wakeup pause(time, client->context().strand);
    std::vector<row> answer;
    for (bool is_answered = false; !is_answered;) {
        try {
            answer = co_await client->run(compose, give_up_at);
            is_answered = true;
        } catch (const error& failed) {
            if (!failed.is_transient() || time.now() >= give_up_at) throw;
        }
        if (!is_answered) {
            const auto next_at = time.now() + core::random_between(time, 50ms, 100ms);
            co_await pause.wait_until(std::min(next_at, give_up_at));
        }
    }
    switch (status_of(answer)) {
    case 'c': {
        step counted;
        counted.generation = static_cast<std::uint64_t>(number_in(answer.front(), 1));
        counted.count = static_cast<std::uint64_t>(number_in(answer.front(), 2));
        co_return counted;
    }
    case 'u': throw core::unknown_latch_error(name);
    case 'p':
        throw core::other_parties_error(
            name, static_cast<std::uint64_t>(number_in(answer.front(), 3)), parties);
    default: throw unexpected_answer("latch_step");
    }
}

asio::awaitable<void> table_latches::leave(std::shared_ptr<lock_client> client, std::string name,
                                           std::string waiter) {
    const auto compose = [&](const caller& from) { return look_call(from, name, waiter, false); };
    try {
        co_await client->run(compose, client->try_deadline());
    } catch (const std::exception&) {}  // an inspection removes the row after the session's end
}

// The caller may have counted down before this wait, and cannot take that back, so the wait
// continues while the database is away.
asio::awaitable<bool> table_latches::wait(std::string_view name, std::uint64_t generation,
                                          time_point give_up_at) {
    const auto client = client_;
    client->throw_if_forked();
    auto& time = *client->context().time;
    const std::string latch(name);
    latch_wait waiter(*this, latch);
    core::back_off pauses(time, {.first = 100ms, .longest = 1s});
    for (;;) {
        time_point wake_at;
        try {
            const auto limit =
                std::max(client->try_deadline(), std::min(give_up_at, time.now() + 5s));
            const auto used = co_await client->sessions().get(limit);
            const bool was_listening = used->is_listening();
            const call request = look_call(client->caller_on(*used), latch, waiter.id(), true);
            const auto answer = co_await client->run_on(used, request, limit);
            const auto state = read_state(answer, time.now());
            if (core::is_over(state, latch, generation)) co_return true;
            pauses.reset();
            const bool is_pushed = used->facts().is_pushed;
            if (is_pushed) used->listen();
            if (is_pushed && !was_listening) continue;
            wake_at = time.now() + (is_pushed ? core::random_between(time, 20s, 40s)
                                              : core::random_between(time, 1000ms, 1500ms));
            wake_at = std::min(wake_at, state.expires);
        } catch (const error& failed) {
            if (!failed.is_transient()) throw;
            if (time.now() >= give_up_at) throw;
            wake_at = time.now() + pauses.next_pause();
        }
        if (time.now() >= give_up_at) co_return false;
        co_await waiter.wakeup().wait_until(std::min(wake_at, give_up_at));
    }
}

asio::awaitable<latch_info> table_latches::inspect(std::string_view name) {
    const auto client = client_;
    latch_info info;
    info.name = name;
    const auto compose = [&info](const caller& from) {
        return look_call(from, info.name, {}, false);
    };
    const auto answer = co_await client->run(compose, client->try_deadline());
    const auto now = client->now();
    const auto state = read_state(answer, now);
    if (!answer.empty()) info.waiters = static_cast<std::uint64_t>(number_in(answer.front(), 5));
    info.known = state.known;
    if (!state.known) co_return info;
    info.count = state.count;
    info.generation = state.generation;
    info.parties = static_cast<std::uint32_t>(number_in(answer.front(), 3));
    info.remaining = state.expires - now;
    co_return info;
}

asio::awaitable<bool> table_latches::reset(std::string_view name) {
    const auto client = client_;
    const auto compose = [name = std::string(name)](const caller& from) {
        return call{"latch_reset", {from.name_space, stored_text(name)}, true};
    };
    const auto answer = co_await client->run(compose, client->try_deadline());
    co_return !answer.empty() && flag_in(answer.front(), 0);
}

}  // namespace pawl::sql
