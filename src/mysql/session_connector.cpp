// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "session_connector.hpp"

#include "schema.hpp"

#include "../sql/answers.hpp"

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::mysql {
namespace {

constexpr duration statement_wait_limit = 3s;

// The news of a session's end, which its connection has before the session is made.
struct end_notice {
    std::weak_ptr<sql::lock_session> session;
    sql::session_end_handler on_end;
};

}  // namespace

void check_nodes(const server_variables& all, const options& settings, const error_place& place) {
    if (is_read_only(value_of(all, "read_only"))) throw read_only_error(place);
    if (settings.one_node || !is_cluster(all)) return;
    const std::string mode = settings.kind == lock_kind::row ? "mode=row" : "mode=session";
    throw error(errc::unsupported,
                place.server + " is a node of a cluster, whose nodes do not know each other's " +
                    (settings.kind == lock_kind::row ? "locked rows" : "user locks") +
                    "; leave out " + mode +
                    ", or add one_node=yes if all clients use this node only.");
}

sql::lock_key session_connector::key_of(std::string_view name) const {
    return options_.kind == lock_kind::row ? std::string(name) : user_lock_name(name);
}

asio::awaitable<std::shared_ptr<sql::lock_session>> session_connector::connect(
    sql::session_end_handler on_end, time_point give_up_at) {
    const auto notice = std::make_shared<end_notice>();
    notice->on_end = std::move(on_end);
    sql::session_handlers handlers;
    handlers.on_end = [notice] {
        if (const auto ended = notice->session.lock()) notice->on_end(*ended, loss_reason::missing);
    };
    connector::session_maker make = [this, handlers](connector::opened_link opened) {
        return greet(std::move(opened), handlers);
    };
    lock_session_parts parts;
    parts.link = co_await connector_.connect_with(std::move(make), give_up_at);
    parts.time = context_.time;
    parts.settings = options_;
    parts.process = sql::process_text(context_.process);
    auto session = options_.kind == lock_kind::row ? make_row_lock_session(std::move(parts))
                                                   : make_user_lock_session(std::move(parts));
    notice->session = session;
    co_return session;
}

asio::awaitable<std::shared_ptr<connection>> session_connector::greet(
    connector::opened_link opened, sql::session_handlers handlers) {
    const auto& [link, place, login] = opened;
    const bool is_mariadb = ::mariadb_connection(link->get()) != 0;
    const std::string variables_text =
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'wsrep_on', "
        "'group_replication_group_name')";
    const auto variables = co_await link->query(variables_text, statement_wait_limit);
    check_nodes(variables_in(rows_in(variables, place)), options_, place);
    const auto own_id = co_await link->query("SELECT CONNECTION_ID()", statement_wait_limit);
    const auto id_rows = rows_in(own_id, place);
    if (id_rows.empty() ||
        sql::number_in(id_rows[0], 0) != static_cast<std::int64_t>(::mysql_thread_id(link->get())))
        throw error(errc::unsupported,
                    place.server +
                        " is reached through a proxy that shares connections, which would keep a "
                        "lock or give it to others; with mode=session or mode=row, name the server "
                        "itself.");
    const std::string limits =
        std::string("SET SESSION wait_timeout = 60, SESSION ") +
        (is_mariadb ? "max_statement_time = 0, SESSION idle_transaction_timeout = 0, SESSION "
                      "idle_write_transaction_timeout = 0"
                    : "max_execution_time = 0");
    rows_in(co_await link->query(limits, statement_wait_limit), place);
    if (options_.kind == lock_kind::row) {
        // The first lets displays see the holder of a row, which its transaction has written. A
        // waiter looks again after 5 s, as the server does not notice that its client has gone.
        rows_in(co_await link->query("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
                                     statement_wait_limit),
                place);
        rows_in(
            co_await link->query("SET SESSION innodb_lock_wait_timeout = 5, SESSION autocommit = 0",
                                 statement_wait_limit),
            place);
        co_await find_table(link, place, options_.make_schema);
    }
    auto made = std::make_shared<connection>(link, place, sql::session_facts{}, nullptr,
                                             std::move(handlers), context_.strand, *context_.time);
    made->start();
    co_return made;
}

asio::awaitable<void> session_connector::find_table(connector::link_ptr link, error_place place,
                                                    bool may_make) {
    const auto look = "SELECT fence FROM " + row_table(place.schema) + " LIMIT 0";
    const auto table_rows = co_await link->query(look, statement_wait_limit);
    const auto* failure = std::get_if<server_error>(&table_rows);
    if (failure == nullptr) {
        rows_in(co_await link->query("COMMIT", statement_wait_limit), place);
        co_return;
    }
    if (!is_missing_schema(*failure)) rows_in(table_rows, place);
    if (!may_make) throw missing_schema_error(place, failure->message);
    const std::string statements[] = {"CREATE DATABASE IF NOT EXISTS `" + place.schema + "`",
                                      row_table_statement(place.schema)};
    for (const auto& each : statements) {
        const auto answer = co_await link->query(each, statement_wait_limit);
        const auto* refusal = std::get_if<server_error>(&answer);
        if (refusal != nullptr && is_missing_schema(*refusal))
            throw missing_schema_error(place, refusal->message);
        rows_in(answer, place);
    }
}

spi::capabilities session_connector::capabilities() const noexcept {
    const bool is_row = options_.kind == lock_kind::row;
    return {.fencing = is_row,
            .tokens_survive_data_loss = is_row,
            .names_holders = is_row,
            .hands_over = !is_row,
            .knows_remaining_time = false,
            .least_ttl = 1s,
            .ttl_granularity = 1s,
            .order = is_row ? fairness::none : fairness::first_in_first_out,
            .strictly_fair = !is_row};
}

std::string session_connector::capability_hint(lock_mode, bool) const {
    return std::string("leave out mode=") + (options_.kind == lock_kind::row ? "row" : "session");
}

}  // namespace pawl::mysql
