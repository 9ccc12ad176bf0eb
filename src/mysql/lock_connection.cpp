// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_connection.hpp"

#include "doctor.hpp"
#include "server_variables.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::mysql {

asio::awaitable<std::vector<sql::row>> lock_connection::ask(std::string text, time_point give_up_at,
                                                            bool may_take_long) {
    auto sent = send(std::move(text), may_take_long);
    co_return co_await parts_.link->wait(std::move(sent), give_up_at);
}

// Any error of the server may have ended the transaction that locks a row, as a node of a cluster
// does for the commit of another one: the session could live on without the lock. And a server that
// only reads may have a successor, which does not know the lock.
asio::awaitable<void> lock_connection::prove(time_point give_up_at) {
    const auto sent = send("SELECT @@global.read_only");
    try {
        const auto rows = co_await parts_.link->wait(sent, give_up_at);
        if (rows.empty() || !is_read_only(sql::text_in(rows[0], 0))) co_return;
        parts_.link->end("the server has become read-only");
        throw error(errc::unavailable, place().server + " accepts no writes.");
    } catch (const error& failed) {
        if (sent->error_number != 0) parts_.link->end(failed.what());
        throw;
    }
}

asio::awaitable<void> lock_connection::set_ttl(duration ttl, time_point give_up_at) {
    const auto text = "SET SESSION wait_timeout = " + std::to_string((ttl + 999ms) / 1s);
    static_cast<void>(co_await ask(text, give_up_at));
}

asio::awaitable<std::uint64_t> lock_connection::count_statements(std::string begin,
                                                                 time_point give_up_at) {
    const auto rows =
        co_await ask("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE LEFT(INFO, " +
                         std::to_string(begin.size()) + ") = " + text_literal(begin),
                     give_up_at);
    co_return static_cast<std::uint64_t>(number_of(rows));
}

asio::awaitable<void> lock_connection::kill(std::int64_t id, time_point give_up_at) {
    constexpr unsigned unknown_thread = 1094, not_the_owner = 1095;
    const auto sent = send("KILL " + std::to_string(id));
    try {
        static_cast<void>(co_await parts_.link->wait(sent, give_up_at));
    } catch (const error&) {
        if (sent->error_number == not_the_owner)
            throw error(errc::refused, place().server +
                                           ": this account may not end the holder's connection; "
                                           "it needs the right CONNECTION ADMIN.");
        if (sent->error_number != unknown_thread) throw;
    }
}

asio::awaitable<examination> lock_connection::examine(time_point give_up_at) {
    const auto rows = co_await ask("SELECT CONCAT(@@version, ' ', @@version_comment)", give_up_at);
    const auto cipher = co_await ask("SHOW SESSION STATUS LIKE 'Ssl_cipher'", give_up_at);
    server_state state;
    if (!rows.empty()) state.version = sql::text_in(rows[0], 0);
    state.has_tls = !cipher.empty() && !sql::text_in(cipher[0], 1).empty();
    co_return assess_sessions(state, parts_.settings, node_name(place()));
}

}  // namespace pawl::mysql
