// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sql_database.hpp"

#include "simulated_session.hpp"

#include "core/util/clock_token.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr int timeline_shift = 47;

// The client of a holder, with the timeline of its grant: a reader joins the others whether or not
// their sessions live, but not those of an earlier timeline, whose token may be too small.
std::string holder_client(int timeline, const std::string& client) {
    return '+' + std::to_string(timeline) + ':' + client;
}
bool is_holder(const std::string& client) { return client.starts_with('+'); }
int timeline_of(const std::string& client) { return std::stoi(client.substr(1)); }
std::string session_of(const std::string& client) {
    return is_holder(client) ? client.substr(client.find(':') + 1) : client;
}

std::string text_of(std::int64_t number) { return std::to_string(number); }
std::string text_of(bool value) { return value ? "t" : "f"; }

std::optional<std::string> milliseconds(duration left) {
    return std::to_string(std::max<std::int64_t>(0, (left + 1ms - 1ns) / 1ms));
}

std::vector<std::string> first_waiters(const sql_lock& lock) {
    std::vector<std::string> owners;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, lock.queue.size()); ++i)
        owners.push_back(lock.queue[i].owner);
    return owners;
}

const std::string& text_in(const sql::call& request, std::size_t index) {
    return std::get<std::string>(request.parameters[index]);
}
std::int64_t number_in(const sql::call& request, std::size_t index) {
    return std::get<std::int64_t>(request.parameters[index]);
}

}  // namespace

// A call that is carried out, and what follows its commit.
struct sql_database::step {
    const sql_link& link;
    const sql::call& request;
    std::vector<std::pair<std::string, std::string>> messages{};  // to clients
    bool has_granted = false, has_handed_over = false;
    bool is_flushed = true;

    [[nodiscard]] claim requested(std::size_t ttl, std::size_t mode) const {
        claim made;
        made.name = text_in(request, 1);
        made.owner = text_in(request, 2);
        if (ttl != 0) made.ttl = std::chrono::milliseconds(number_in(request, ttl));
        if (mode != 0) made.mode = static_cast<lock_mode>(number_in(request, mode));
        return made;
    }
};

class sql_database::rows {
public:
    using client_type = std::string;
    using holder_row = core::holder_row<std::string>;
    using waiter_row = core::waiter_row<std::string>;
    static constexpr duration claim_window = 1800ms;

    rows(sql_database& database, step& done, const std::string& name)
        : database_(database),
          step_(done),
          lock_(database.present_.locks[name]),
          name_(name),
          holders_(lock_.holders) {
        std::erase_if(holders_, [&](const auto& each) { return each.expires <= now(); });
    }

    [[nodiscard]] time_point now() const { return database_.clock(); }
    std::vector<holder_row>& holders() { return holders_; }
    void insert_holder(const holder_row& holder) {
        lock_.holders.push_back(holder);
        lock_.holders.back().client = holder_client(database_.timeline_, holder.client);
        step_.has_granted = true;
    }
    void erase_holder(const std::string& owner) {
        std::erase_if(lock_.holders, [&](const auto& each) { return each.owner == owner; });
    }
    void downgrade_holder(const holder_row& holder) {
        erase_holder(holder.owner);
        lock_.holders.push_back(holder);
    }
    void erase_expired_holders() {
        std::erase_if(lock_.holders, [&](const auto& each) { return each.expires <= now(); });
    }
    bool renew_holder(const std::string& owner, lock_mode mode, time_point expires) {
        for (auto& each : lock_.holders) {
            if (each.owner != owner || each.mode != mode || each.expires <= now()) continue;
            each.expires = expires;
            return true;
        }
        return false;
    }
    // Nothing is served during a pause after a failover.
    [[nodiscard]] const waiter_row* first_waiter() const {
        if (lock_.queue.empty() || database_.is_pausing()) return nullptr;
        auto& first = lock_.queue.front();
        const auto end = lock_.place_ends.find(first.owner);
        first.has_expired = end != lock_.place_ends.end() && end->second <= now();
        return &first;
    }
    void enqueue(const waiter_row& waiter) {
        lock_.queue.push_back(waiter);
        extend_place(waiter.owner);
    }
    bool refresh_waiter(const std::string& owner) {
        const bool has_place = std::ranges::count(lock_.queue, owner, &waiter_row::owner) > 0;
        if (has_place) extend_place(owner);
        return has_place;
    }
    void erase_waiter(const std::string& owner) {
        std::erase_if(lock_.queue, [&](const auto& each) { return each.owner == owner; });
    }
    void erase_first_waiter(const waiter_row&) { lock_.queue.pop_front(); }
    [[nodiscard]] std::uint64_t count_waiters() const { return lock_.queue.size(); }
    [[nodiscard]] std::uint32_t total_permits() const { return lock_.total; }
    void set_total_permits(std::uint32_t total) { lock_.total = total; }
    [[nodiscard]] waiter_row row_of(const claim& requested) const {
        return {core::share_of(requested), requested.owner, step_.link.client, {}, requested.ttl};
    }
    [[nodiscard]] bool is_alive(const std::string& client) const {
        if (is_holder(client)) return timeline_of(client) == database_.timeline_;
        return client == step_.link.client || database_.is_alive(client);
    }
    [[nodiscard]] static bool may_grant() { return true; }
    fencing_token next_token() {
        auto floor = core::clock_token(std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(
                24h * 365 * 56 + now().time_since_epoch())));
        if (database_.bug_ != sql_bug::no_timeline)
            floor += std::int64_t{database_.timeline_} << timeline_shift;
        if (database_.bug_ == sql_bug::no_floor) floor = 0;
        lock_.fence = std::max(lock_.fence + 1, static_cast<std::uint64_t>(floor));
        return fencing_token(lock_.fence);
    }
    [[nodiscard]] static std::chrono::system_clock::time_point wall_clock() { return {}; }
    void notify_waiter(const waiter_row& waiter) {
        const auto held = std::ranges::find(lock_.holders, waiter.owner, &holder_row::owner);
        if (held == lock_.holders.end()) return;
        step_.has_handed_over = true;
        step_.messages.emplace_back(waiter.client, "g " + waiter.owner + ' ' +
                                                       std::to_string(held->token.value()) + ' ' +
                                                       *milliseconds(held->expires - now()) + ' ' +
                                                       text_of(database_.clock_us()));
    }
    void notify_loss(const holder_row& holder) {
        step_.messages.emplace_back(session_of(holder.client), "f " + holder.owner + ' ' + name_);
    }

    // A hold of an earlier timeline may have ended there, and others may have followed.
    void end_earlier(const std::string& owner) {
        const auto is_earlier = [&](const auto& each) {
            return each.owner == owner && timeline_of(each.client) != database_.timeline_;
        };
        std::erase_if(lock_.holders, is_earlier);
        std::erase_if(holders_, is_earlier);
    }

    [[nodiscard]] sql_lock& lock() noexcept { return lock_; }

private:
    void extend_place(const std::string& owner) {
        if (database_.is_shared_) lock_.place_ends[owner] = now() + 4s;
    }

    sql_database& database_;
    step& step_;
    sql_lock& lock_;
    const std::string name_;
    std::vector<holder_row> holders_;
};

instant sql_database::packet_delay() {
    if (is_wild_ && random_.happens(0.02)) return instant(random_.between(0, 4'000'000'000));
    return instant(random_.between(50'000, 3'000'000));
}

void sql_database::deliver(const simulated_process& process, instant when, task packet) {
    loop_.schedule_at(when, [this, &process, packet = std::move(packet)]() mutable {
        if (cut_off_.contains(&process))
            kept_back_[&process].push_back(std::move(packet));
        else
            packet();
    });
}

void sql_database::reconnect(const simulated_process& process) {
    if (cut_off_.erase(&process) == 0) return;
    for (auto& each : std::exchange(kept_back_[&process], {}))
        loop_.schedule_at(loop_.now(), std::move(each));
}

// hello_1.
std::shared_ptr<sql_link> sql_database::open(simulated_process& process, std::string client,
                                             sql::session_facts& facts) {
    if (!boot_) {
        boot_ = ++boots_;
        const bool has_failed_over = present_.timeline != timeline_;
        if (has_failed_over && bug_ != sql_bug::no_hold_off)
            present_.hold_off = clock() + present_.most_ttl;
        present_.timeline = timeline_;
        commit(true);
    }
    auto made = std::make_shared<sql_link>();
    made->client = std::move(client);
    made->process = &process;
    links_.push_back(made);
    facts = {made->client, !is_shared_, *boot_, clock_us(),
             std::max(duration(), duration(present_.hold_off - clock()))};
    return made;
}

void sql_database::send(const std::shared_ptr<sql_link>& link, sql::call request,
                        answer_handler on_answer) {
    link->sent_until = std::max(link->sent_until, loop_.now() + packet_delay());
    deliver(*link->process, link->sent_until,
            [this, link, request = std::move(request), on_answer = std::move(on_answer)] {
                if (link->is_open) run_request(link, request, on_answer);
            });
}

void sql_database::listen(const std::shared_ptr<sql_link>& link) {
    link->sent_until = std::max(link->sent_until, loop_.now() + packet_delay());
    deliver(*link->process, link->sent_until, [link] { link->is_listening = true; });
}

// The end of a connection that its client has closed comes after what the client had sent.
void sql_database::close(const std::shared_ptr<sql_link>& link) {
    link->user = nullptr;
    link->sent_until = std::max(link->sent_until, loop_.now() + packet_delay());
    deliver(*link->process, link->sent_until, [this, link] { end_at_database(link); });
}

void sql_database::run_request(const std::shared_ptr<sql_link>& link, const sql::call& request,
                               const answer_handler& on_answer) {
    step done{*link, request};
    auto& locks = present_.locks;
    const auto* name = std::get_if<std::string>(&request.parameters[1]);
    const auto before = name != nullptr ? first_waiters(locks[*name]) : std::vector<std::string>();
    auto answer = carry_out(done);
    if (name != nullptr && first_waiters(locks[*name]) != before) tell_first(done, locks[*name]);
    const bool is_async = done.has_handed_over ? bug_ == sql_bug::hand_offs_async
                          : done.has_granted   ? bug_ == sql_bug::grants_async
                                               : !done.is_flushed;
    commit(!is_async);
    // The client dies, or its session is ended, between the commit and what follows it.
    if (is_wild_ && random_.happens(0.01)) return end_at_database(link);
    if (bug_ != sql_bug::no_messages) notify(done);
    link->answered_until = std::max(link->answered_until, loop_.now() + packet_delay());
    deliver(*link->process, link->answered_until,
            [link, on_answer, answer = std::move(answer)]() mutable {
                link->process->post([link, on_answer, answer = std::move(answer)] {
                    if (link->user != nullptr) on_answer(answer);
                });
            });
}

// Tells the first two waiters when the lease that they wait for ends.
void sql_database::tell_first(step& done, const sql_lock& lock) const {
    const auto first_end = core::first_expiry(lock.holders);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, lock.queue.size()); ++i)
        if (!lock.holders.empty())
            done.messages.emplace_back(lock.queue[i].client,
                                       "n " + lock.queue[i].owner + ' ' + *time_until(first_end));
}

std::optional<std::string> sql_database::time_until(time_point end) const {
    return milliseconds(end - clock() + (bug_ == sql_bug::late_looks ? 1min : 0min));
}

void sql_database::notify(const step& done) {
    if (is_shared_) return;
    for (const auto& [client, text] : done.messages)
        for (const auto& link : links_) {
            if (link->client != client || !link->is_open || !link->is_listening) continue;
            link->answered_until = std::max(link->answered_until, loop_.now() + packet_delay());
            deliver(*link->process, link->answered_until, [link, text = text] {
                link->process->post([link, text] {
                    if (link->user != nullptr) link->user->receive(text);
                });
            });
        }
}

std::vector<sql::row> sql_database::carry_out(step& done) {
    const auto& request = done.request;
    if (request.function == "renew") return renew(done);
    if (request.function == "inspect") return inspect(done);
    if (request.function == "acquire" || request.function == "refresh") return attempt(done);
    rows table(*this, done, text_in(request, 1));
    core::lease_table lease(table, table.now());
    if (request.function == "force") {
        const auto* expected = std::get_if<std::int64_t>(&request.parameters[3]);
        const fencing_token token(expected ? static_cast<std::uint64_t>(*expected) : 0);
        return {{text_of(lease.force_release(token))}};
    }
    if (request.function == "downgrade") {
        const auto result = lease.downgrade(done.requested(5, 0));
        if (!result) return {};
        return {{text_of(static_cast<std::int64_t>(result->token.value()))}};
    }
    if (request.function == "leave") {
        const auto& claimed_by = text_in(request, 4);
        const bool is_over = bug_ == sql_bug::undo_once || is_shared_ || claimed_by.empty() ||
                             claimed_by == done.link.client || !is_alive(claimed_by);
        if (number_in(request, 6) != 0) table.end_earlier(text_in(request, 2));
        const auto kept = lease.leave(done.requested(0, 5), number_in(request, 6) != 0);
        const bool has_it = kept && kept->outcome == core::attempt_result::kind::granted;
        if (!has_it) return {{"r", std::nullopt, std::nullopt, text_of(is_over)}};
        return {{"g", text_of(static_cast<std::int64_t>(kept->token.value())),
                 milliseconds(kept->expires - clock()), text_of(is_over)}};
    }
    // A release without waiters need not be flushed.
    auto requested = done.requested(0, 4);
    done.is_flushed = !table.lock().queue.empty();
    if (bug_ == sql_bug::release_by_name && !table.holders().empty())
        requested.owner = table.holders().front().owner;
    const auto result = *lease.release(requested);
    return {{result == release_result::released     ? "r"
             : result == release_result::taken_over ? "t"
                                                    : "e",
             std::nullopt, std::nullopt, "t"}};
}

std::vector<sql::row> sql_database::attempt(step& done) {
    const auto& request = done.request;
    if (!boot_) return {{"r"}};
    auto requested = done.requested(6, 7);
    requested.permits = static_cast<std::uint32_t>(number_in(request, 8));
    requested.total_permits = static_cast<std::uint32_t>(number_in(request, 9));
    const bool may_wait = number_in(request, 10) != 0;
    present_.most_ttl = std::max(present_.most_ttl, requested.ttl);
    processes_[requested.owner] = done.link.process;
    rows table(*this, done, requested.name);
    if (bug_ != sql_bug::earlier_claim_kept) table.end_earlier(requested.owner);
    core::lease_table lease(table, table.now());
    core::attempt_result result;
    const auto own =
        std::ranges::find(table.holders(), requested.owner, &core::holder_row<std::string>::owner);
    if (!is_pausing() || own != table.holders().end()) {
        result = request.function == "refresh" ? *lease.refresh(requested)
                                               : lease.acquire(requested, may_wait);
    } else if (may_wait) {
        if (!table.refresh_waiter(requested.owner)) table.enqueue(table.row_of(requested));
        result.outcome = core::attempt_result::kind::waiting;
        result.expires =
            table.holders().empty() ? present_.hold_off : core::first_expiry(table.holders());
    }
    if (result.outcome == core::attempt_result::kind::granted)
        return {{"g", text_of(static_cast<std::int64_t>(result.token.value())),
                 milliseconds(result.expires - clock()), std::nullopt, std::nullopt,
                 text_of(clock_us())}};
    const auto first_end = core::first_expiry(table.holders());
    const auto remaining = first_end != time_point::max() ? time_until(first_end)
                           : is_pausing()                 ? time_until(present_.hold_off)
                                                          : std::optional<std::string>();
    if (result.outcome == core::attempt_result::kind::not_queued)
        return {{"b", std::nullopt, remaining}};
    return {{"q", std::nullopt, remaining, text_of(result.is_first), std::nullopt,
             text_of(clock_us())}};
}

std::vector<sql::row> sql_database::renew(step& done) {
    const auto list = [&](std::size_t index) {
        return std::get<std::vector<std::string>>(done.request.parameters[index]);
    };
    const auto names = list(2), owners = list(3), modes = list(4), ttls = list(5);
    std::vector<sql::row> answer;
    for (std::size_t i = 0; i < names.size(); ++i) {
        rows table(*this, done, names[i]);
        claim held;
        held.owner = owners[i];
        held.mode = static_cast<lock_mode>(std::stoi(modes[i]));
        const duration ttl = std::chrono::milliseconds(std::stoll(ttls[i]));
        auto& holders = table.lock().holders;
        const bool is_lost = std::ranges::none_of(
            holders, [&](const auto& each) { return each.owner == held.owner; });
        if (bug_ == sql_bug::renewal_creates && is_lost && held.mode == lock_mode::exclusive)
            table.insert_holder({{held.mode, 1},
                                 held.owner,
                                 done.link.client,
                                 {},
                                 {},
                                 clock() + ttl,
                                 fencing_token(table.lock().fence)});
        const bool is_renewed = core::lease_table(table, table.now()).renew(held, ttl);
        for (auto& each : holders)
            if (is_renewed && each.owner == held.owner)
                each.client =
                    holder_client(is_holder(each.client) ? timeline_of(each.client) : timeline_,
                                  done.link.client);
        answer.push_back({is_renewed ? "x" : table.holders().empty() ? "m" : "r"});
    }
    done.is_flushed = bug_ != sql_bug::renewals_async;
    return answer;
}

std::vector<sql::row> sql_database::inspect(step& done) {
    const auto name = text_in(done.request, 1);
    rows table(*this, done, name);
    std::vector<sql::row> answer;
    for (const auto& each : table.holders())
        answer.push_back({name, "0", "0", each.owner, "host 1 test",
                          text_of(static_cast<std::int64_t>(each.mode)),
                          text_of(std::int64_t{each.permits}),
                          text_of(static_cast<std::int64_t>(each.token.value())), "0",
                          milliseconds(each.expires - clock())});
    return answer;
}

}  // namespace pawl::simulation
