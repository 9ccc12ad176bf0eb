// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "advisory_session.hpp"

#include "connection_string.hpp"
#include "doctor.hpp"
#include "replies.hpp"

#include "../sql/user_timeout.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::postgres {
namespace {

constexpr duration least_silence_limit = 5s;
// A waiter that was granted the lock, and has stopped, is passed over after this time.
constexpr duration claim_window = 1800ms;

std::string milliseconds(duration span) { return "'" + std::to_string(span / 1ms) + "ms'"; }

// As pg_locks shows the key: a number of 64 bits has two halves.
std::string condition_of(const advisory_key& key) {
    const auto number = static_cast<std::uint64_t>(key.first);
    const auto high = key.second ? number & 0xffffffff : number >> 32;
    const auto low =
        key.second ? static_cast<std::uint64_t>(*key.second) & 0xffffffff : number & 0xffffffff;
    return "l.classid = '" + std::to_string(high) + "' and l.objid = '" + std::to_string(low) +
           "' and l.objsubid = " + (key.second ? "2" : "1");
}

constexpr std::string_view locks_query =
    "select l.classid, l.objid, l.objsubid, l.pid, l.mode, l.granted, host(a.client_addr), "
    "a.application_name from pg_locks l left join pg_stat_activity a on a.pid = l.pid "
    "where l.locktype = 'advisory' and l.database = "
    "(select d.oid from pg_database d where d.datname = current_database())";

advisory_key key_in(const sql::row& row) {
    const auto high = static_cast<std::uint64_t>(number_or_0(row[0]));
    const auto low = static_cast<std::uint64_t>(number_or_0(row[1]));
    if (number_or_0(row[2]) != 2) return {static_cast<std::int64_t>(high << 32 | low)};
    return {static_cast<std::int32_t>(high), static_cast<std::int32_t>(low)};
}

// The application's name is "pawl PID COMMAND" if the holder is a client of Pawl.
holder holder_in(const sql::row& row) {
    holder result;
    result.owner = "session " + std::to_string(number_or_0(row[3]));
    result.mode = row[4] == "ShareLock" ? lock_mode::shared : lock_mode::exclusive;
    result.remaining = forever;
    result.host = row[6].value_or("");
    const auto application = row[7].value_or("");
    const auto begin = application.find(' ');
    const auto end = application.find(' ', begin + 1);
    if (application.starts_with("pawl ") && end != std::string::npos) {
        const auto* first = application.data() + begin + 1;
        std::from_chars(first, application.data() + end, result.pid);
        result.command = application.substr(end + 1);
    } else {
        result.command = application;
    }
    return result;
}

void add(lock_info& info, const sql::row& row) {
    if (row[5] != "t")
        ++info.waiters;
    else if (info.held_by)
        info.others.push_back(holder_in(row));
    else
        info.held_by = holder_in(row);
}

void check_columns(const std::vector<sql::row>& rows, std::size_t count, const error_place& place) {
    const auto is_right = [count](const sql::row& each) { return each.size() == count; };
    if (!std::ranges::all_of(rows, is_right)) throw strange_reply(place);
}

// As it was made by DistributedLock's rule for up to 9 ASCII characters.
std::string ascii_name(std::int64_t key) {
    const auto bits = static_cast<std::uint64_t>(key);
    for (std::size_t size = 0; size <= 9; ++size) {
        const auto rest = 64 - 7 * size;
        const auto filler = (std::uint64_t{1} << (rest - 1)) - 1;
        const auto tail = rest == 64 ? bits : bits & ((std::uint64_t{1} << rest) - 1);
        if (tail != filler) continue;
        std::string name;
        for (std::size_t i = 0; i < size; ++i)
            name += static_cast<char>(bits >> (64 - 7 * (i + 1)) & 0x7f);
        const auto is_printed = [](char c) { return c >= 0x20 && c < 0x7f; };
        return std::ranges::all_of(name, is_printed) ? name : std::string();
    }
    return {};
}

std::string hexadecimal(std::uint64_t number, int digits) {
    static constexpr char letters[] = "0123456789abcdef";
    std::string text;
    for (int shift = 4 * digits - 4; shift >= 0; shift -= 4)
        text += letters[number >> shift & 15];
    return text;
}

// How long the server lets the session be idle, and its client be silent. A server that ended the
// session of a silent holder before the ttl would give away a lock on which the holder relies.
std::string limits_text(duration ttl, duration silence) {
    return "select set_config('idle_session_timeout', " + milliseconds(ttl) +
           ", false), set_config('tcp_user_timeout', " +
           milliseconds(std::max(silence, least_silence_limit)) + ", false)";
}

// A statement that waits for a lock does not read: without client_connection_check_interval, the
// server would let it wait on when its client has gone. Servers have transaction_timeout from
// version 17 on.
constexpr std::string_view session_settings =
    "select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false), "
    "set_config('idle_session_timeout', '60s', false), "
    "set_config('client_connection_check_interval', '500ms', false), "
    "set_config('client_min_messages', 'error', false), "
    "set_config('tcp_keepalives_idle', '2', false), "
    "set_config('tcp_keepalives_interval', '1', false), "
    "set_config('tcp_user_timeout', '5s', false), "
    "set_config('application_name', $1, false), pg_backend_pid(), pg_is_in_recovery(), "
    "(select set_config(s.name, '0', false) from pg_settings s where s.name = "
    "'transaction_timeout')";

class advisory_session final : public sql::lock_session {
public:
    advisory_session(std::shared_ptr<connection> link, advisory_keys keys, runtime& time)
        : link_(std::move(link)), keys_(keys), time_(time) {}

    [[nodiscard]] bool is_over() const noexcept override { return link_->is_over(); }

    asio::awaitable<sql::lock_answer> lock(sql::lock_request requested,
                                           time_point give_up_at) override {
        arguments_ = requested.key;
        mode_ = requested.mode;
        const auto ttl = requested.ttl;
        sql::lock_answer answer;
        answer.proved_at = time_.now();
        // A waiter holds nothing, so that both sides may notice soon that the other one has gone.
        const auto silence = requested.waits ? least_silence_limit : ttl;
        set_silence_limit(silence);
        auto limited =
            link_->send(limits_text(requested.waits ? std::min(ttl, claim_window) : ttl, silence));
        auto asked = link_->send(function(requested.waits ? "lock" : "try_advisory_lock"), {},
                                 requested.waits);
        static_cast<void>(co_await link_->wait(std::move(limited), give_up_at));
        const auto rows = co_await link_->wait(std::move(asked), give_up_at);
        check_columns(rows, 1, link_->place());
        answer.is_granted = requested.waits || (rows.size() == 1 && rows[0][0] == "t");
        if (!requested.waits) co_return answer;
        // The wait may have been long: the lease begins with this round trip.
        answer.proved_at = time_.now();
        set_silence_limit(ttl);
        auto proved = link_->send(limits_text(ttl, ttl));
        static_cast<void>(co_await link_->wait(std::move(proved), answer.proved_at + ttl));
        co_return answer;
    }

    asio::awaitable<bool> unlock(time_point give_up_at) override {
        auto sent = link_->send(function("unlock"));
        const auto rows = co_await link_->wait(std::move(sent), give_up_at);
        check_columns(rows, 1, link_->place());
        co_return rows.size() == 1 && rows[0][0] == "t";
    }

    asio::awaitable<void> prove(time_point give_up_at) override {
        auto sent = link_->send("select 1");
        static_cast<void>(co_await link_->wait(std::move(sent), give_up_at));
    }

    void close() noexcept override { link_->close(); }

    asio::awaitable<lock_info> inspect(std::string name, time_point give_up_at) override {
        lock_info info;
        info.name = name;
        const auto key = advisory_key_of(name, keys_);
        auto sent = link_->send(std::string(locks_query) + " and " + condition_of(key));
        const auto rows = co_await link_->wait(std::move(sent), give_up_at);
        check_columns(rows, 8, link_->place());
        for (const auto& each : rows)
            add(info, each);
        co_return info;
    }

    asio::awaitable<std::vector<lock_info>> list(std::string prefix,
                                                 time_point give_up_at) override {
        if (keys_ == advisory_keys::crc32)
            throw error(errc::unsupported,
                        "Advisory locks with keys=crc32 cannot be listed: a key does not tell its "
                        "name; look at pg_locks.");
        auto sent = link_->send(std::string(locks_query) + " order by 1, 2, 3, l.granted desc");
        const auto rows = co_await link_->wait(std::move(sent), give_up_at);
        check_columns(rows, 8, link_->place());
        std::vector<lock_info> all;
        for (const auto& each : rows) {
            auto name = name_of(key_in(each), keys_);
            if (!name.starts_with(prefix)) continue;
            if (all.empty() || all.back().name != name) all.push_back({.name = std::move(name)});
            add(all.back(), each);
        }
        std::erase_if(all, [](const lock_info& each) { return !each.held_by; });
        co_return all;
    }

    // Ends the sessions of the holders.
    asio::awaitable<bool> force_release(std::string name, fencing_token expected,
                                        time_point give_up_at) override {
        if (expected) co_return false;  // no holder has a token
        const auto key = advisory_key_of(name, keys_);
        auto sent = link_->send(
            "select pg_catalog.pg_terminate_backend(l.pid, 800) from (select distinct l.pid "
            "from pg_locks l where l.locktype = 'advisory' and l.granted and "
            "l.database = (select d.oid from pg_database d where d.datname = "
            "current_database()) and " +
            condition_of(key) + ") l");
        try {
            const auto rows = co_await link_->wait(std::move(sent), give_up_at);
            co_return !rows.empty();
        } catch (const error& failed) {
            if (failed.reason() != errc::refused) throw;
            throw error(errc::refused, link_->place().server +
                                           ": this role may not end the holder's session; it needs "
                                           "the rights of the role pg_signal_backend.");
        }
    }

    asio::awaitable<examination> examine(time_point give_up_at) override {
        const auto state = co_await ask_for_state(*link_, {}, time_, give_up_at);
        co_return assess_sessions(state, node_name(link_->place()));
    }

private:
    // "select pg_catalog.pg_advisory_lock_shared('42'::pg_catalog.int8)"; `action` is lock, unlock
    // or try_advisory_lock.
    [[nodiscard]] std::string function(std::string_view action) const {
        std::string text = action == "try_advisory_lock" ? "select pg_catalog.pg_"
                                                         : "select pg_catalog.pg_advisory_";
        text.append(action).append(mode_ == lock_mode::shared ? "_shared(" : "(");
        return text + arguments_ + ")";
    }
    void set_silence_limit(duration span) {
        const auto limit = std::max(span, least_silence_limit);
        link_->set_silence_limit(limit);
        sql::set_user_timeout(::PQsocket(link_->handle()), limit);
    }

    const std::shared_ptr<connection> link_;
    const advisory_keys keys_;
    runtime& time_;
    sql::lock_key arguments_;
    lock_mode mode_ = lock_mode::exclusive;
};

loss_reason reason_of_end(const std::string& sqlstate) {
    if (sqlstate == "57P01") return loss_reason::forced;   // an administrator's command
    if (sqlstate == "57P05") return loss_reason::expired;  // idle_session_timeout
    return loss_reason::missing;
}

// Of 63 printable ASCII characters at most.
std::string application_name(const identity& process) {
    auto name = "pawl " + std::to_string(process.pid) + " " + process.command;
    for (char& each : name)
        if (each < 0x20 || each > 0x7e) each = '?';
    name.resize(std::min<std::size_t>(name.size(), 63));
    return name;
}

}  // namespace

std::string name_of(const advisory_key& key, advisory_keys scheme) {
    if (scheme == advisory_keys::crc32) return {};
    if (scheme == advisory_keys::number)
        return std::to_string(key.first) + (key.second ? "," + std::to_string(*key.second) : "");
    const auto first = static_cast<std::uint64_t>(key.first);
    if (key.second)
        return hexadecimal(first, 8) + "," +
               hexadecimal(static_cast<std::uint64_t>(*key.second), 8);
    auto name = ascii_name(key.first);
    return name.empty() ? hexadecimal(first, 16) : name;
}

advisory_connector::advisory_connector(const options& settings, const backend_context& context)
    : options_(settings), context_(context), connector_(settings, context) {}

sql::lock_key advisory_connector::key_of(std::string_view name) const {
    return arguments_of(advisory_key_of(name, options_.keys));
}

asio::awaitable<std::shared_ptr<sql::lock_session>> advisory_connector::connect(
    sql::session_end_handler on_end, time_point give_up_at) {
    connector::preparation prepare = [this](std::shared_ptr<connection> made, time_point limit) {
        return greet(std::move(made), limit);
    };
    const auto link = co_await connector_.connect_with(std::move(prepare), give_up_at);
    auto session = std::make_shared<advisory_session>(link, options_.keys, *context_.time);
    sql::session_handlers handlers;
    handlers.on_end = [weak = std::weak_ptr(session), watched = std::weak_ptr(link), on_end] {
        const auto ended = weak.lock();
        const auto closed = watched.lock();
        if (ended && closed) on_end(*ended, reason_of_end(closed->end_state()));
    };
    link->set_ready({}, std::move(handlers));
    co_return session;
}

asio::awaitable<void> advisory_connector::greet(std::shared_ptr<connection> made,
                                                time_point give_up_at) {
    const auto& place = made->place();
    const auto version = ::PQserverVersion(made->handle());
    if (version < 140000)
        throw error(errc::unsupported,
                    place.server + " has version " + std::to_string(version / 10000) +
                        "; mode=session needs PostgreSQL 14 or later, which ends idle sessions.");
    auto sent = made->send(std::string(session_settings), {application_name(context_.process)});
    const auto rows = co_await made->wait(std::move(sent), give_up_at);
    check_columns(rows, 12, place);
    if (rows.size() != 1) throw strange_reply(place);
    if (number_or_0(rows[0][9]) != ::PQbackendPID(made->handle()))
        throw error(errc::unsupported,
                    place.server +
                        " is reached through a proxy that shares sessions (PgBouncer), which would "
                        "keep a lock or give it to others; with mode=session, name the server "
                        "itself.");
    if (rows[0][10] == "t")
        throw error(errc::unavailable,
                    place.server + " is a standby server, whose advisory locks are its own.");
}

spi::capabilities advisory_connector::capabilities() const noexcept {
    return {.fencing = false,
            .tokens_survive_data_loss = false,
            .loss_is_pushed = true,
            .names_holders = false,
            .knows_remaining_time = false,
            .least_ttl = 1s,
            .strictly_fair = true,
            .shared = true};
}

std::string advisory_connector::capability_hint(lock_mode, bool) const {
    return "leave out mode=session";
}

}  // namespace pawl::postgres
