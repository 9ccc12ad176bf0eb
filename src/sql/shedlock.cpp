// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "shedlock.hpp"

#include "answers.hpp"
#include "database_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sql {
namespace {

// What is left of a wait may be too short for a request, and a server that does not answer for so
// long has a request of its own repeated.
constexpr duration shortest_wait_of_request = 300ms;
constexpr duration longest_wait_of_request = 5s;

// A waiter looks, without a write, after 50 to 500 ms.
constexpr duration least_poll_pause = 50ms;
constexpr core::pause_lengths poll_pauses{
    .first = 2 * least_poll_pause, .longest = 500ms, .growth = 1.5};
constexpr core::pause_lengths repetition_pauses{.first = 200ms, .longest = 1s};
// A request of a session that has ended arrives no later than this after the server has answered
// another session.
constexpr duration latest_arrival_after_answer = 1min;

// "pawl HOST PID COMMAND OWNER" in `locked_by`: readable for the people who read the table, and of
// one hold only. Others write the name of their host.
constexpr std::string_view own_prefix = "pawl ";
constexpr std::size_t owner_size = 32;
constexpr std::size_t longest_locked_by = 255;

std::string ascii(std::string text, bool is_word) {
    for (char& each : text)
        if (each < ' ' || each > '~' || (is_word && each == ' ')) each = each == ' ' ? '_' : '?';
    return text;
}

std::string prefix_of(const identity& process) {
    auto text = std::string(own_prefix) + ascii(process.host, true) + ' ' +
                std::to_string(process.pid) + ' ' + ascii(process.command, false);
    text.resize(std::min(text.size(), longest_locked_by - owner_size - 1));
    return text + ' ';
}

struct lock_row {
    std::string name, locked_by;
    duration remaining{};
    std::int64_t since_ms = 0;
    std::int64_t fence = 0;

    [[nodiscard]] bool is_held() const noexcept { return remaining > duration{}; }
};

lock_row read_lock_row(const row& answer) {
    return {std::string(text_in(answer, 0)), std::string(text_in(answer, 1)),
            milliseconds_in(answer, 2), number_in(answer, 3), number_in(answer, 4)};
}

// The fence in the row of another program's hold is that of an earlier hold of Pawl.
holder shown_holder(const lock_row& stored) {
    holder shown;
    shown.remaining = stored.remaining;
    constexpr std::int64_t latest_ms = std::int64_t{1} << 42;  // in the year 2109
    shown.since = std::chrono::system_clock::time_point(
        std::chrono::milliseconds(std::clamp<std::int64_t>(stored.since_ms, 0, latest_ms)));
    std::string_view text = stored.locked_by;
    if (!text.starts_with(own_prefix) || text.size() < own_prefix.size() + owner_size + 1) {
        shown.host = text;
        return shown;
    }
    text.remove_prefix(own_prefix.size());
    shown.owner = text.substr(text.size() - owner_size, 8);
    text.remove_suffix(owner_size + 1);
    read_process(text, shown);
    shown.token = fencing_token(static_cast<std::uint64_t>(stored.fence));
    return shown;
}

lock_info shown_lock(std::string name, const std::optional<lock_row>& stored) {
    lock_info info;
    info.name = std::move(name);
    if (stored && stored->is_held()) info.held_by = shown_holder(*stored);
    return info;
}

// A text of the table has characters, and a limited number of them.
void check_stored_name(std::string_view name, const session_facts& facts) {
    const auto count = count_characters(name);
    if (!count)
        throw error(errc::bad_name,
                    "The name of the lock is no UTF-8, so ShedLock's table cannot store it; "
                    "choose another one.");
    if (facts.longest_name != 0 && static_cast<std::int64_t>(*count) > facts.longest_name)
        throw error(errc::bad_name, "The name of the lock has " + std::to_string(*count) +
                                        " characters; ShedLock's table has room for " +
                                        std::to_string(facts.longest_name) + ".");
}

class shedlock_client final : public one_session_client,
                              public std::enable_shared_from_this<shedlock_client> {
public:
    shedlock_client(shedlock_statements statements, const shedlock_table& table,
                    const backend_context& context)
        : one_session_client(context),
          statements_(std::move(statements)),
          lock_at_least_(count_ms(table.lock_at_least)),
          prefix_(prefix_of(context.process)) {}

    static std::shared_ptr<shedlock_client> make(std::unique_ptr<connector> database,
                                                 shedlock_statements statements,
                                                 const shedlock_table& table,
                                                 const backend_context& context) {
        auto made = std::make_shared<shedlock_client>(std::move(statements), table, context);
        session_keeper::handlers events{[](std::string_view) {}, [](const std::string&) {},
                                        [weak = made->weak_from_this()] {
                                            if (const auto self = weak.lock())
                                                self->context_.listener->on_possible_loss();
                                        },
                                        [](bool) {}};
        made->sessions_ =
            std::make_shared<session_keeper>(std::move(database), context, std::move(events));
        return made;
    }

    asio::awaitable<std::optional<grant>> acquire(const claim& requested, time_point give_up_at);
    asio::awaitable<void> renew(renewal_batch& batch, std::size_t index);
    asio::awaitable<release_result> release(const hold& held);
    asio::awaitable<std::optional<lock_row>> look(std::string_view name, time_point give_up_at);
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix);
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected);

private:
    using session_ptr = std::shared_ptr<session>;

    // What a hold has in the table.
    struct stored_hold {
        std::string name, locked_by;
    };

    asio::awaitable<std::vector<row>> run(session_ptr used, call request, time_point give_up_at);
    // Ends the hold, but not earlier than so many ms after its beginning.
    asio::awaitable<std::vector<row>> end_hold(session_ptr used, const stored_hold& ended,
                                               std::int64_t least_ms, time_point give_up_at);
    asio::awaitable<std::optional<grant>> take(const claim& requested, time_point give_up_at);
    asio::awaitable<void> make_row(const claim& requested, time_point give_up_at);
    asio::awaitable<void> pause(core::back_off& pauses, core::wakeup& timer,
                                const std::optional<lock_row>& stored, time_point give_up_at);
    [[nodiscard]] time_point request_limit(time_point give_up_at) const;

    // Repeat `end_hold` with growing pauses, until a request that was sent before on the session
    // `used` cannot arrive any more: for `budget` from the first answer on, which may come later
    // than that. Null: until there is an answer, for `budget` at most.
    void end_in_background(stored_hold ended, std::int64_t least_ms, duration budget,
                           session_ptr used);
    static asio::awaitable<void> repeat_end(std::shared_ptr<shedlock_client> self,
                                            stored_hold ended, std::int64_t least_ms,
                                            duration budget, session_ptr used);

    const shedlock_statements statements_;
    const std::int64_t lock_at_least_;  // ms
    const std::string prefix_;          // of the texts in `locked_by`
};

asio::awaitable<std::vector<row>> shedlock_client::run(session_ptr used, call request,
                                                       time_point give_up_at) {
    throw_if_forked();
    ++context_.counts->requests;
    co_return co_await used->run(request, give_up_at);
}

asio::awaitable<std::vector<row>> shedlock_client::end_hold(session_ptr used,
                                                            const stored_hold& ended,
                                                            std::int64_t least_ms,
                                                            time_point give_up_at) {
    call request{"release", {ended.name, ended.locked_by, least_ms}, false, statements_.release};
    return run(std::move(used), std::move(request), give_up_at);
}

time_point shedlock_client::request_limit(time_point give_up_at) const {
    if (give_up_at <= now()) return try_deadline();
    return now() +
           std::clamp(give_up_at - now(), shortest_wait_of_request, longest_wait_of_request);
}

asio::awaitable<std::optional<grant>> shedlock_client::acquire(const claim& requested,
                                                               time_point give_up_at) {
    const core::in_flight::guard operation(operations_);
    core::back_off pauses(*context_.time, poll_pauses);
    core::wakeup timer(*context_.time, context_.strand);
    for (;;) {
        auto granted = co_await take(requested, request_limit(give_up_at));
        if (granted) co_return granted;
        auto stored = co_await look(requested.name, request_limit(give_up_at));
        if (!stored) {
            co_await make_row(requested, request_limit(give_up_at));
            granted = co_await take(requested, request_limit(give_up_at));
            if (granted) co_return granted;
        }
        do {
            if (now() >= give_up_at) co_return std::nullopt;
            co_await pause(pauses, timer, stored, give_up_at);
            stored = co_await look(requested.name, request_limit(give_up_at));
        } while (stored && stored->is_held());
    }
}

// The end of a lease wakes all its waiters, but not at the same time.
asio::awaitable<void> shedlock_client::pause(core::back_off& pauses, core::wakeup& timer,
                                             const std::optional<lock_row>& stored,
                                             time_point give_up_at) {
    auto length = pauses.next_pause();
    if (stored)
        length = std::min(length, stored->remaining +
                                      core::random_between(*context_.time, 0ms, least_poll_pause));
    co_await timer.wait_until(std::min(give_up_at, now() + std::max(length, least_poll_pause)));
}

// The statement may be carried out although its answer does not come, or nobody waits for it.
asio::awaitable<std::optional<grant>> shedlock_client::take(const claim& requested,
                                                            time_point give_up_at) {
    grant granted;
    granted.stored_value = prefix_ + requested.owner;
    const stored_hold claimed{requested.name, granted.stored_value};
    const auto used = co_await sessions_->get(give_up_at);
    check_stored_name(requested.name, used->facts());
    call request{"take",
                 {claimed.name, claimed.locked_by, count_ms(requested.ttl)},
                 false,
                 statements_.take};
    std::vector<row> answer;
    const auto asked_at = now();
    const auto undo = [&] { end_in_background(claimed, 0, requested.ttl, used); };
    try {
        answer = co_await run(used, std::move(request), give_up_at);
    } catch (const no_answer&) {
        undo();
        throw;
    } catch (const error& failed) {
        if (failed.reason() == errc::protocol) undo();
        throw;
    } catch (...) {  // cancelled
        undo();
        throw;
    }
    if (answer.empty()) co_return std::nullopt;
    if (requested.fenced)
        granted.token = fencing_token(static_cast<std::uint64_t>(number_in(answer.front(), 0)));
    granted.deadline = asked_at + requested.ttl - drift(requested.ttl);
    co_return granted;
}

// It holds nothing, so nothing must be undone.
asio::awaitable<void> shedlock_client::make_row(const claim& requested, time_point give_up_at) {
    const auto used = co_await sessions_->get(give_up_at);
    call request{
        "make_row", {requested.name, prefix_ + requested.owner}, false, statements_.make_row};
    co_await run(used, std::move(request), give_up_at);
}

asio::awaitable<std::optional<lock_row>> shedlock_client::look(std::string_view name,
                                                               time_point give_up_at) {
    const auto used = co_await sessions_->get(give_up_at);
    check_stored_name(name, used->facts());
    call request{"look", {std::string(name)}, false, statements_.look};
    const auto answer = co_await run(used, std::move(request), give_up_at);
    std::optional<lock_row> stored;
    if (!answer.empty()) stored = read_lock_row(answer.front());
    co_return stored;
}

asio::awaitable<void> shedlock_client::renew(renewal_batch& batch, std::size_t index) {
    const auto& renewed = batch.renewals()[index];
    const auto limit = std::min(renewed.useful_until, try_deadline());
    const std::string name = renewed.held->claim.name;
    const std::string locked_by = renewed.held->grant.stored_value;
    const auto ttl = renewed.ttl;
    try {
        const auto used = co_await sessions_->get(limit);
        call request{"extend", {name, locked_by, count_ms(ttl)}, false, statements_.extend};
        const auto asked_at = now();
        const auto answer = co_await run(used, std::move(request), limit);
        if (!answer.empty()) {
            batch.settle(index, renewal::outcome::extended, asked_at + ttl - drift(ttl));
            co_return;
        }
        const auto stored = co_await look(name, limit);
        if (!stored || !stored->is_held())
            batch.settle(index, renewal::outcome::missing);
        else if (stored->locked_by != locked_by)
            batch.settle(index, renewal::outcome::refused);
    } catch (const std::exception&) {}  // the outcome is unknown
}

// A release whose answer is missing, because its session has ended, is sent once more. It ends no
// other hold, however late it comes.
asio::awaitable<release_result> shedlock_client::release(const hold& held) {
    const core::in_flight::guard operation(operations_);
    const stored_hold ended{held.claim.name, held.grant.stored_value};
    const auto limit = try_deadline();
    for (int sent = 0; sent < 2 && now() < limit; ++sent) {
        try {
            const auto used = co_await sessions_->get(limit);
            const auto answer = co_await end_hold(used, ended, lock_at_least_, limit);
            if (!answer.empty()) co_return release_result::released;
            if (sent != 0) co_return release_result::unknown;  // the lost one may have released it
            const auto stored = co_await look(ended.name, limit);
            co_return stored && stored->locked_by != ended.locked_by ? release_result::taken_over
                                                                     : release_result::expired;
        } catch (const std::exception&) {}
    }
    end_in_background(ended, lock_at_least_, held.claim.ttl, nullptr);
    co_return release_result::unknown;
}

void shedlock_client::end_in_background(stored_hold ended, std::int64_t least_ms, duration budget,
                                        session_ptr used) {
    auto repetitions =
        repeat_end(shared_from_this(), std::move(ended), least_ms, budget, std::move(used));
    asio::co_spawn(context_.strand, std::move(repetitions), asio::detached);
}

asio::awaitable<void> shedlock_client::repeat_end(std::shared_ptr<shedlock_client> self,
                                                  stored_hold ended, std::int64_t least_ms,
                                                  duration budget, session_ptr used) {
    const core::in_flight::guard operation(self->operations_);
    core::back_off pauses(*self->context_.time, repetition_pauses);
    core::wakeup timer(*self->context_.time, self->context_.strand);
    bool is_answered = false;
    auto ends_at = self->now() + budget + (used ? latest_arrival_after_answer : duration{});
    while (!self->is_forked()) {
        try {
            const auto limit = self->try_deadline();
            const auto present = co_await self->sessions_->get(limit);
            const auto answer = co_await self->end_hold(present, ended, least_ms, limit);
            // A session carries its statements out in their order.
            if (!answer.empty() || !used || used == present) co_return;
            if (!std::exchange(is_answered, true))
                ends_at = self->now() + std::min(budget, latest_arrival_after_answer);
        } catch (const std::exception&) {}  // repeated
        const auto next_at = self->now() + pauses.next_pause();
        if (next_at >= ends_at || self->is_closing_) co_return;
        co_await timer.wait_until(next_at);
    }
}

asio::awaitable<std::vector<lock_info>> shedlock_client::list(std::string_view prefix) {
    const std::string wanted(prefix);
    const auto limit = try_deadline();
    const auto used = co_await sessions_->get(limit);
    call request{"list", {}, false, statements_.list};
    const auto answer = co_await run(used, std::move(request), limit);
    std::vector<lock_info> locks;
    for (const auto& each : answer) {
        auto stored = read_lock_row(each);
        if (!stored.name.starts_with(wanted)) continue;
        auto name = stored.name;
        locks.push_back(shown_lock(std::move(name), std::move(stored)));
    }
    co_return locks;
}

// Ends only the hold that it has seen.
asio::awaitable<bool> shedlock_client::force_release(std::string_view name,
                                                     fencing_token expected) {
    const auto limit = try_deadline();
    const auto stored = co_await look(name, limit);
    if (!stored || !stored->is_held()) co_return false;
    if (expected && shown_holder(*stored).token != expected) co_return false;
    const stored_hold ended{std::string(name), stored->locked_by};
    const auto used = co_await sessions_->get(limit);
    const auto answer = co_await end_hold(used, ended, 0, limit);
    co_return !answer.empty();
}

class shedlock_backend final : public one_session_backend<shedlock_client> {
public:
    using one_session_backend::one_session_backend;

    // Every coroutine keeps the client: its frame may be the last object that is destroyed.
    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto client = client_;
        client->throw_if_forked();
        co_return co_await client->acquire(requested, give_up_at);
    }
    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto client = client_;
        for (std::size_t i = 0; i < batch.renewals().size() && !client->is_forked(); ++i)
            co_await client->renew(batch, i);
    }
    // A statement about one row locks nothing else. The core sends the renewals side by side.
    [[nodiscard]] std::size_t renewals_at_once() const noexcept override { return 1; }

    asio::awaitable<release_result> release(const hold& requested) override {
        const auto client = client_;
        if (client->is_forked()) co_return release_result::unknown;
        co_return co_await client->release(requested);
    }
    asio::awaitable<lock_info> inspect(std::string_view name) override {
        const auto client = client_;
        const auto stored = co_await client->look(name, client->try_deadline());
        co_return shown_lock(std::string(name), stored);
    }
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        const auto client = client_;
        co_return co_await client->list(prefix);
    }
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        const auto client = client_;
        co_return co_await client->force_release(name, expected);
    }
    spi::capabilities capabilities() const noexcept override {
        return {.hands_over = false,
                .least_ttl = 100ms,
                .order = fairness::none,
                .modes_share_queue = false};
    }
    std::string capability_hint(lock_mode, bool) const override {
        return "ShedLock's table has only exclusive locks, so leave layout=shedlock out of the URL";
    }
};

}  // namespace

std::unique_ptr<backend> make_shedlock_backend(std::unique_ptr<connector> database,
                                               shedlock_statements statements,
                                               const shedlock_table& table,
                                               const backend_context& context) {
    return std::make_unique<shedlock_backend>(
        shedlock_client::make(std::move(database), std::move(statements), table, context));
}

}  // namespace pawl::sql
