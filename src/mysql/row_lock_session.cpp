// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_connection.hpp"
#include "schema.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::mysql {
namespace {

// Of the server's clock, in µs since 1970. A token that a holder took with it when it died is below
// the clock, though the table has forgotten it.
constexpr std::string_view clock_expression =
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

// The lock is the row's, in a transaction that stays open. What the transaction writes is for
// displays, which read what is not committed; it vanishes with the transaction.
class row_lock_session final : public lock_connection {
public:
    using lock_connection::lock_connection;

    asio::awaitable<sql::lock_answer> lock(sql::lock_request requested,
                                           time_point give_up_at) override {
        name_ = requested.key;
        sql::lock_answer answer;
        set_silence_limit(requested.waits ? least_silence_limit : requested.ttl);
        const auto ttl = requested.ttl;
        co_await set_ttl(requested.waits ? std::min(ttl, claim_window) : ttl, give_up_at);
        for (auto state = row_state::missing; state != row_state::locked;) {
            state = co_await lock_row(requested.waits, give_up_at);
            if (state == row_state::missing) co_await insert_row(give_up_at);
            if (state == row_state::busy && (!requested.waits || time().now() >= give_up_at))
                co_return answer;
        }
        set_silence_limit(requested.ttl);
        const auto limit = std::max(give_up_at, time().now() + 1s);
        co_await ask("UPDATE " + table() + " SET fence = LAST_INSERT_ID(GREATEST(fence + 1, " +
                         std::string(clock_expression) +
                         ")), connection = CONNECTION_ID(), since = UTC_TIMESTAMP(6), process = " +
                         bytes_literal(parts().process) + condition(name_),
                     limit);
        if (requested.waits) co_await set_ttl(ttl, limit);
        // The wait may have been long: the lease begins with this round trip.
        answer.proved_at = time().now();
        const auto rows = co_await ask("SELECT LAST_INSERT_ID()", limit);
        answer.token = fencing_token(static_cast<std::uint64_t>(number_of(rows)));
        answer.is_granted = true;
        co_return answer;
    }

    // The commit keeps the token, so that the next one is larger even if the clock is set back. The
    // answer has the token if the row was the session's: a later ROW_COUNT() may be a ping's.
    asio::awaitable<bool> unlock(time_point give_up_at) override {
        const auto rows = co_await ask("UPDATE " + table() +
                                           " SET fence = LAST_INSERT_ID(fence), connection = NULL, "
                                           "since = NULL, process = NULL" +
                                           condition(name_) + " AND connection = CONNECTION_ID()",
                                       give_up_at);
        co_await ask("COMMIT", give_up_at);
        co_return number_of(rows) != 0;
    }

    asio::awaitable<lock_info> inspect(std::string name, time_point give_up_at) override {
        const auto all = co_await read(condition(name), give_up_at);
        lock_info info;
        info.name = name;
        if (!all.empty()) info.held_by = all.front().held_by;
        info.waiters = co_await count_statements(lock_text(name), give_up_at);
        co_return info;
    }

    asio::awaitable<std::vector<lock_info>> list(std::string prefix,
                                                 time_point give_up_at) override {
        co_return co_await read(condition_of_namespace() + " AND LEFT(name, " +
                                    std::to_string(prefix.size()) + ") = " + bytes_literal(prefix),
                                give_up_at);
    }

    asio::awaitable<bool> force_release(std::string name, fencing_token expected,
                                        time_point give_up_at) override {
        const auto before = co_await inspect(name, give_up_at);
        if (!before.held_by || (expected && before.held_by->token != expected)) co_return false;
        const auto token = before.held_by->token;
        std::int64_t id = 0;
        const auto& owner = before.held_by->owner;
        std::from_chars(owner.data() + connection_word.size(), owner.data() + owner.size(), id);
        co_await kill(id, give_up_at);
        while (time().now() < give_up_at) {
            const auto present = co_await inspect(name, give_up_at);
            if (!present.held_by || present.held_by->token != token) break;
            co_await ask("DO SLEEP(0.02)", give_up_at);  // until its transaction has ended
        }
        co_return true;
    }

private:
    enum class row_state : std::uint8_t { missing, busy, locked };
    static constexpr std::string_view connection_word = "connection ";

    [[nodiscard]] std::string table() const { return row_table(parts().settings.schema); }
    [[nodiscard]] std::string condition_of_namespace() const {
        return " WHERE ns = " + bytes_literal(parts().settings.name_space);
    }
    [[nodiscard]] std::string condition(std::string_view name) const {
        return condition_of_namespace() + " AND name = " + bytes_literal(name);
    }

    [[nodiscard]] std::string lock_text(std::string_view name) const {
        return "SELECT 1 FROM " + table() + condition(name) + " FOR UPDATE";
    }

    asio::awaitable<row_state> lock_row(bool waits, time_point give_up_at) {
        constexpr unsigned wait_timeout = 1205, lock_nowait = 3572;
        const auto sent = send(lock_text(name_) + (waits ? "" : " NOWAIT"), waits);
        std::vector<sql::row> rows;
        try {
            rows = co_await parts().link->wait(sent, give_up_at);
        } catch (const error&) {
            if (sent->error_number != wait_timeout && sent->error_number != lock_nowait) throw;
            co_return row_state::busy;
        }
        co_return rows.empty() ? row_state::missing : row_state::locked;
    }

    // Another client may insert it at the same time.
    asio::awaitable<void> insert_row(time_point give_up_at) {
        co_await ask("INSERT IGNORE INTO " + table() + " (ns, name, fence) VALUES (" +
                         bytes_literal(parts().settings.name_space) + ", " + bytes_literal(name_) +
                         ", 0)",
                     give_up_at);
        co_await ask("COMMIT", give_up_at);
    }

    // The held locks.
    asio::awaitable<std::vector<lock_info>> read(std::string condition_text,
                                                 time_point give_up_at) {
        const auto rows = co_await ask(
            "SELECT name, connection, fence, process, TIMESTAMPDIFF(MICROSECOND, "
            "'1970-01-01', since) FROM " +
                table() + condition_text + " AND connection IS NOT NULL",
            give_up_at);
        co_await ask("COMMIT", give_up_at);
        std::vector<lock_info> all;
        for (const auto& each : rows) {
            lock_info info;
            info.name = std::string(sql::text_in(each, 0));
            holder shown;
            shown.owner = std::string(connection_word) + std::string(sql::text_in(each, 1));
            shown.token = fencing_token(static_cast<std::uint64_t>(sql::number_in(each, 2)));
            shown.remaining = forever;
            constexpr std::int64_t latest_us = std::int64_t{1} << 52;  // in the year 2112
            shown.since = std::chrono::system_clock::time_point(std::chrono::microseconds(
                std::clamp<std::int64_t>(sql::number_in(each, 4), 0, latest_us)));
            sql::read_process(sql::text_in(each, 3), shown);
            info.held_by = std::move(shown);
            all.push_back(std::move(info));
        }
        co_return all;
    }

    std::string name_;
};

}  // namespace

std::string row_table(const std::string& schema) { return "`" + schema + "`.row_lock"; }

std::string row_table_statement(const std::string& schema) {
    return "CREATE TABLE IF NOT EXISTS " + row_table(schema) +
           " (ns VARBINARY(64) NOT NULL, name VARBINARY(512) NOT NULL, fence BIGINT NOT NULL, "
           "connection BIGINT UNSIGNED, since DATETIME(6), process VARBINARY(4096), "
           "PRIMARY KEY (ns, name)) ENGINE = InnoDB";
}

std::string row_table_script(const std::string& schema, std::string_view account) {
    auto text = "delimiter //\ncreate database if not exists `" + schema + "`//\n" +
                row_table_statement(schema) + "//\n";
    if (!account.empty())
        text += "grant select, insert, update on " + row_table(schema) + " to " +
                account_text(account) + "//\n";
    return text + "delimiter ;\n";
}

std::shared_ptr<sql::lock_session> make_row_lock_session(lock_session_parts parts) {
    return std::make_shared<row_lock_session>(std::move(parts));
}

}  // namespace pawl::mysql
