// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "handshake.hpp"

#include "connection_string.hpp"
#include "replies.hpp"
#include "schema.hpp"
#include "shedlock.hpp"

#include "../core/util/random.hpp"
#include "../sql/answers.hpp"

#include <utility>

namespace asio = boost::asio;

namespace pawl::postgres {
namespace {

// The types are exact, so that no function of another user, in a schema of the search path, fits
// better than the server's.
constexpr auto server_query = R"sql(
select pg_backend_pid(), pg_is_in_recovery(), current_setting('transaction_read_only'),
    current_setting('synchronous_commit'), n.oid is not null,
    coalesce(has_schema_privilege(n.oid, 'usage'), false),
    has_database_privilege(current_database()::text, 'create'),
    (select max(substr(p.proname::text, 7)::int) from pg_proc p
        where p.pronamespace = n.oid and p.proname ~ '^hello_[0-9]{1,4}$'),
    exists (select from pg_proc p where p.pronamespace = n.oid and p.proname = 'hello_1'),
    current_user
from (select 1) one left join pg_namespace n on n.nspname = $1
)sql";

// As is_alive() in the schema tries it.
constexpr auto presence_query =
    "select pg_try_advisory_lock("
    "('x' || left(encode(sha256(decode($1, 'hex')), 'hex'), 16))::bit(64)::bigint)";

struct server_facts {
    int process = 0;
    bool is_standby = false;
    bool is_read_only = false;
    bool commits_lazily = false;
    bool has_schema = false;
    bool may_use_schema = false;
    bool may_make_schema = false;
    int newest_format = 0;  // 0: the schema has no functions of Pawl
    bool has_functions = false;
    std::string role;
};

server_facts read_facts(const std::vector<sql::row>& rows, const error_place& place) {
    if (rows.size() != 1 || rows.front().size() != 10) throw strange_reply(place);
    const auto& row = rows.front();
    return {.process = static_cast<int>(number_or_0(row[0])),
            .is_standby = row[1] == "t",
            .is_read_only = row[2] == "on",
            .commits_lazily = row[3] == "off",
            .has_schema = row[4] == "t",
            .may_use_schema = row[5] == "t",
            .may_make_schema = row[6] == "t",
            .newest_format = static_cast<int>(number_or_0(row[7])),
            .has_functions = row[8] == "t",
            .role = row[9].value_or("")};
}

void check_server(const server_facts& server, const error_place& place) {
    if (server.is_standby)
        throw error(errc::unavailable,
                    place.server +
                        " is a standby server, which accepts no writes; name the "
                        "primary in the URL, too.");
    if (server.is_read_only)
        throw error(errc::unavailable, place.server +
                                           " accepts no writes at present: "
                                           "default_transaction_read_only is on; set it to off, "
                                           "or name the primary in the URL, too.");
}

error newer_format_error(const error_place& place, std::int64_t format) {
    return {errc::refused, place.server + " has locks of format " + std::to_string(format) +
                               " in the schema " + place.schema + "; this Pawl knows format " +
                               std::to_string(schema_format) + ", so use a newer one."};
}

// Throws unless the schema is there or may be made.
void check_schema(const server_facts& server, const options& settings, const error_place& place) {
    if (server.has_functions && server.may_use_schema) return;
    if (server.has_functions)
        throw error(errc::refused,
                    place.server + ": the role " + server.role + " may not use the schema " +
                        place.schema +
                        "; let an administrator run the output of `pawl schema --role " +
                        server.role + "`.");
    if (server.newest_format > schema_format) throw newer_format_error(place, server.newest_format);
    if (server.has_schema) throw missing_schema_error(place, "the schema has no functions of Pawl");
    if (!settings.make_schema)
        throw missing_schema_error(place, "the schema is missing, and make_schema is off");
    if (!server.may_make_schema)
        throw missing_schema_error(
            place, "the schema is missing, and the role " + server.role + " may not make it");
}

// Not behind a proxy, which gives the connection to others, too. The server notices a dead client
// in about 5 s. An operation waits for other transactions of the same lock only.
std::string settings_text(const server_facts& server, int version) {
    std::string text =
        "select set_config('default_transaction_isolation', 'read committed', false),"
        "set_config('statement_timeout', '5s', false),"
        "set_config('lock_timeout', '1s', false),"
        "set_config('client_min_messages', 'warning', false),"
        "set_config('tcp_keepalives_idle', '2', false),"
        "set_config('tcp_keepalives_interval', '1', false),"
        "set_config('tcp_keepalives_count', '3', false)";
    if (server.commits_lazily) text += ",set_config('synchronous_commit', 'on', false)";
    if (version >= 120000) text += ",set_config('tcp_user_timeout', '5s', false)";
    if (version >= 140000) text += ",set_config('idle_session_timeout', '0', false)";
    if (version >= 170000) text += ",set_config('transaction_timeout', '0', false)";
    return text;
}

asio::awaitable<void> make_schema(std::shared_ptr<connection> session, const options& settings,
                                  std::function<void(std::string_view)> log,
                                  time_point give_up_at) {
    auto sent = session->send(make_schema_statement(settings.schema));
    static_cast<void>(co_await session->wait(std::move(sent), give_up_at));
    if (log) log("Made the schema " + settings.schema + " in " + session->place().server + ".");
}

sql::session_facts read_hello(const std::vector<sql::row>& rows, const error_place& place) {
    if (rows.size() != 1 || rows.front().size() != 7) throw strange_reply(place, "hello");
    const auto& row = rows.front();  // format, is_standby, timeline, hold_off, pid, now, boot
    if (row[1] == "t")
        throw error(errc::unavailable,
                    place.server + " has become a standby server, which accepts no writes.");
    if (const auto format = number_or_0(row[0]); format != schema_format)
        throw newer_format_error(place, format);
    sql::session_facts facts;
    facts.hold_off = std::chrono::milliseconds(number_or_0(row[3]));
    facts.clock = number_or_0(row[5]);
    facts.boot = number_or_0(row[6]);
    return facts;
}

}  // namespace

asio::awaitable<sql::session_facts> shake_hands(std::shared_ptr<connection> session,
                                                const options& settings, runtime& time,
                                                std::function<void(std::string_view)> log,
                                                std::string& activity, time_point give_up_at) {
    const auto& place = session->place();
    const auto version = ::PQserverVersion(session->handle());
    const auto process = ::PQbackendPID(session->handle());
    if (version < 120000)
        throw error(errc::unsupported, place.server + " has version " +
                                           std::to_string(version / 10000) +
                                           "; Pawl needs PostgreSQL 12 or later.");
    auto asked = session->send(server_query, {settings.schema});
    const auto rows = co_await session->wait(std::move(asked), give_up_at);
    const auto server = read_facts(rows, place);
    check_server(server, place);
    // A proxy that shares connections tells a process of its own.
    const bool is_direct = server.process == process;
    if (settings.shedlock) {
        if (is_direct) {
            auto adjusted = session->send(settings_text(server, version));
            static_cast<void>(co_await session->wait(std::move(adjusted), give_up_at));
        }
        auto facts = co_await check_shedlock(session, *settings.shedlock, time, give_up_at);
        facts.is_pushed = is_direct;
        co_return facts;
    }
    check_schema(server, settings, place);
    if (!server.has_functions) {
        const sql::named_activity making(activity, "it makes the schema " + settings.schema);
        co_await make_schema(session, settings, log, give_up_at);
    }

    const auto client = core::random_hex(time, 8);
    std::shared_ptr<pending_statement> adjusted, present;
    if (is_direct) {
        adjusted = session->send(settings_text(server, version));
        present = session->send(presence_query, {client});
    }
    const bool goes_on = settings.after_failover == after_failover::go;
    auto greeted = session->send("select * from " + quoted(settings.schema) + ".hello_1($1)",
                                 {goes_on ? "t" : "f"});
    if (is_direct) {
        static_cast<void>(co_await session->wait(std::move(adjusted), give_up_at));
        const auto presence = co_await session->wait(std::move(present), give_up_at);
        if (presence.size() != 1 || !sql::flag_in(presence.front(), 0))
            throw error(errc::unavailable,
                        place.server + " did not grant the advisory lock of this connection.");
    }
    const auto hello = co_await session->wait(std::move(greeted), give_up_at);
    auto facts = read_hello(hello, place);
    facts.client = client;
    facts.is_pushed = is_direct;
    co_return facts;
}

}  // namespace pawl::postgres
