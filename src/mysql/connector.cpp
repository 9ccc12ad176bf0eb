// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connector.hpp"

#include "doctor.hpp"
#include "schema.hpp"
#include "server_variables.hpp"
#include "shedlock.hpp"

#include "../core/util/random.hpp"
#include "../net/host_addresses.hpp"
#include "../sql/answers.hpp"
#include "../sql/worst_failure.hpp"

#include <pawl/mysql_handle.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::mysql {
namespace {

constexpr duration statement_limit = 3s;
constexpr duration schema_statement_limit = 10s;
constexpr duration listener_connect_limit = 5s;
constexpr unsigned cannot_initialize_function = 1123;
constexpr unsigned unknown_column = 1054;

constexpr std::string_view variables_text =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uuid', 'server_uid', 'hostname', "
    "'port', 'datadir', 'wsrep_on', 'group_replication_group_name', 'version')";
constexpr std::string_view status_text =
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'wsrep_cluster_state_uuid', "
    "'wsrep_ready')";

// Set so, it lets a statement wait for what the cluster has committed. So a client that comes from
// another node finds its holds. Empty without a cluster.
struct session_variable {
    std::string name, on;
};

session_variable sync_variable(const server_variables& all) {
    if (is_galera(all)) return {"wsrep_sync_wait", "1"};
    if (is_cluster(all)) return {"group_replication_consistency", "'BEFORE'"};
    return {};
}

void check_version(MYSQL* connection, const error_place& place) {
    const bool is_mariadb = ::mariadb_connection(connection) != 0;
    const auto least = is_mariadb ? 100600UL : 80000UL;
    if (::mysql_get_server_version(connection) >= least) return;
    throw error(errc::refused, place.server + " has version " +
                                   ::mysql_get_server_info(connection) + "; locks need " +
                                   (is_mariadb ? "MariaDB 10.6" : "MySQL 8.0") + " or later.");
}

error foreign_table_error(const error_place& place, const std::string& table) {
    return {errc::refused, place.server + " has a table '" + table +
                               "' of another program in the database " + place.schema +
                               "; name a database of its own for the locks in the URL."};
}

}  // namespace

std::vector<sql::row> rows_in(const libmariadb_connection::result& answer,
                              const error_place& place) {
    if (const auto* failure = std::get_if<server_error>(&answer)) {
        if (is_network_failure(*failure)) throw connect_error(*failure, place);
        throw call_error(*failure, place);
    }
    return std::get<std::vector<sql::row>>(answer);
}

std::string node_name(const error_place& place) {
    return place.server.substr(place.server.find(" at ") + 4);
}

connector::connector(options settings, const backend_context& context)
    : options_(std::move(settings)), context_(context) {}

std::string connector::describe() const {
    std::string text;
    for (const auto& each : options_.servers)
        text += (text.empty() ? "MySQL at " : ", ") + each.host + ":" + std::to_string(each.port);
    return text;
}

asio::awaitable<std::shared_ptr<sql::session>> connector::connect(sql::session_handlers handlers,
                                                                  time_point give_up_at) {
    session_maker make = [this, handlers = std::move(handlers)](opened_link opened) {
        return greet(std::move(opened), handlers);
    };
    co_return co_await connect_with(std::move(make), give_up_at);
}

asio::awaitable<std::shared_ptr<connection>> connector::connect_with(session_maker make,
                                                                     time_point give_up_at) {
    sql::worst_failure failures;
    auto remaining_servers = options_.servers.size();
    for (const auto& target : options_.servers) {
        const auto server_limit = limit_of_attempt(remaining_servers--, give_up_at);
        try {
            const auto addresses =
                co_await net::host_addresses(target.host, "a MariaDB or MySQL server", server_limit,
                                             context_.strand, *context_.time);
            auto remaining = addresses.size();
            for (const auto& address : addresses) {
                const auto limit = limit_of_attempt(remaining--, server_limit);
                try {
                    co_return co_await connect_to(target, address, make, limit);
                } catch (const error& failure) {
                    failures.add(failure);
                }
            }
        } catch (const error& failure) {
            failures.add(failure);
        }
    }
    failures.rethrow();
}

time_point connector::limit_of_attempt(std::size_t remaining, time_point give_up_at) const {
    const auto now = context_.time->now();
    return now + (give_up_at - now) / static_cast<duration::rep>(remaining);
}

server_login connector::login_for(const server& target, const std::string& address) const {
    auto password = password_of(options_);
    return {target.host, address, target.port, options_.user, std::move(password), options_.tls};
}

asio::awaitable<connector::link_ptr> connector::open(server_login login, error_place place,
                                                     asio::any_io_executor strand, runtime& time,
                                                     time_point give_up_at) {
    const auto link = std::make_shared<libmariadb_connection>(std::move(strand), time);
    const auto failure = co_await link->connect(std::move(login), give_up_at);
    if (failure.number != 0) throw connect_error(failure, place);
    co_return link;
}

asio::awaitable<std::shared_ptr<connection>> connector::connect_to(server target,
                                                                   std::string address,
                                                                   const session_maker& make,
                                                                   time_point give_up_at) {
    const auto address_text = target.host + ":" + std::to_string(target.port);
    error_place place{"MySQL at " + address_text, options_.schema,
                      options_.shedlock ? options_.shedlock->name : std::string()};
    auto login = login_for(target, address);
    const auto link = co_await open(login, place, context_.strand, *context_.time, give_up_at);
    struct close_at_failure {
        link_ptr link;
        ~close_at_failure() {
            if (link) link->close();
        }
    } guard{link};
    check_version(link->get(), place);
    if (::mariadb_connection(link->get()) != 0) place.server = "MariaDB at " + address_text;
    opened_link opened{link, place, std::move(login)};
    auto made = co_await make(std::move(opened));
    guard.link = nullptr;
    co_return made;
}

asio::awaitable<std::shared_ptr<connection>> connector::greet(opened_link opened,
                                                              sql::session_handlers handlers) {
    sql::session_facts facts;
    if (options_.shedlock)
        facts = co_await check_table(opened.link, opened.place);
    else
        facts = co_await say_hello(opened.link, opened.place);
    auto connect_listener = [login = opened.login, place = opened.place, strand = context_.strand,
                             time = context_.time] {
        return open(login, place, strand, *time, time->now() + listener_connect_limit);
    };
    auto made = std::make_shared<connection>(opened.link, opened.place, std::move(facts),
                                             std::move(connect_listener), std::move(handlers),
                                             context_.strand, *context_.time);
    made->start();
    co_return made;
}

// A member that has left its group, such as after a restart without START GROUP_REPLICATION, may
// accept writes that the others never see. This function asks for no rights, and refuses there.
asio::awaitable<void> connector::check_membership(link_ptr link, const server_variables& variables,
                                                  error_place place) {
    if (is_galera(variables) && value_of(variables, "wsrep_ready") != "ON")
        throw error(errc::unavailable,
                    place.server + " has lost the other nodes of its Galera cluster.");
    if (is_galera(variables) || !is_cluster(variables)) co_return;
    const auto answer =
        co_await link->query("SELECT group_replication_get_write_concurrency()", statement_limit);
    const auto* failure = std::get_if<server_error>(&answer);
    if (failure != nullptr && failure->number == cannot_initialize_function)
        throw error(errc::unavailable, place.server +
                                           " is not with the majority of its replication group: " +
                                           failure->message + ".");
    rows_in(answer, place);
}

asio::awaitable<sql::session_facts> connector::check_table(link_ptr link, error_place place) {
    for (const auto& each : shedlock_settings())
        rows_in(co_await link->query(each, statement_limit), place);
    const std::string state_text =
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'wsrep_on', "
        "'group_replication_group_name')";
    auto variables =
        variables_in(rows_in(co_await link->query(state_text, statement_limit), place));
    if (is_read_only(value_of(variables, "read_only"))) throw read_only_error(place);
    if (is_galera(variables)) {
        const std::string ready_text = "SHOW GLOBAL STATUS LIKE 'wsrep_ready'";
        variables.merge(
            variables_in(rows_in(co_await link->query(ready_text, statement_limit), place)));
    }
    co_await check_membership(link, variables, place);
    const auto columns =
        rows_in(co_await link->query(shedlock_columns_query(*options_.shedlock, options_.schema),
                                     statement_limit),
                place);
    sql::session_facts facts;
    facts.client = core::random_hex(*context_.time, 8);
    facts.is_pushed = false;
    facts.longest_name = check_shedlock(columns, *options_.shedlock, place.server);
    co_return facts;
}

asio::awaitable<sql::session_facts> connector::say_hello(link_ptr link, error_place place) {
    auto variables = variables_in(
        rows_in(co_await link->query(std::string(variables_text), statement_limit), place));
    variables.merge(variables_in(
        rows_in(co_await link->query(std::string(status_text), statement_limit), place)));
    co_await check_membership(link, variables, place);
    const auto sync = sync_variable(variables);
    if (!sync.name.empty())
        rows_in(co_await link->query("SET SESSION " + sync.name + " = " + sync.on, statement_limit),
                place);
    sql::session_facts facts;
    facts.client = core::random_hex(*context_.time, 8);
    const bool may_push = options_.push && !is_cluster(variables);
    const auto presence = may_push ? "GET_LOCK('pawl." + facts.client + "', 0)" : std::string("0");
    const auto clock =
        rows_in(co_await link->query("SELECT UNIX_TIMESTAMP(), CONNECTION_ID(), " + presence,
                                     statement_limit),
                place);
    if (clock.empty()) throw sql::unexpected_answer("hello");
    if (!sync.name.empty())
        rows_in(co_await link->query("SET SESSION " + sync.name + " = DEFAULT", statement_limit),
                place);
    const bool is_direct =
        sql::number_in(clock[0], 1) == static_cast<std::int64_t>(::mysql_thread_id(link->get()));
    facts.is_pushed = is_direct && sql::number_in(clock[0], 2) == 1;
    // The two statements may see different seconds.
    const auto start = sql::number_in(clock[0], 0) - uptime_of(variables);
    if (std::abs(start - last_start_) > 2) last_start_ = start;
    if (::mariadb_connection(link->get()) != 0)
        rows_in(co_await link->query("SET max_statement_time = 5", statement_limit), place);
    const auto hello = call_text(
        options_.schema, "hello",
        {std::int64_t{options_.after_failover == after_failover::go}, identity_of(variables)});
    auto answer = co_await link->query(hello, statement_limit);
    const auto* failure = std::get_if<server_error>(&answer);
    const auto* rows = std::get_if<std::vector<sql::row>>(&answer);
    if ((failure != nullptr && is_missing_schema(*failure)) ||
        (rows != nullptr && !rows->empty() && !rows->front().empty() && !rows->front()[0])) {
        if (!options_.make_schema)
            throw missing_schema_error(
                place, failure != nullptr ? failure->message : "it is not complete");
        co_await make_schema(link, place);
        answer = co_await link->query(hello, statement_limit);
    }
    const auto checked = rows_in(answer, place);
    if (checked.empty() || checked[0].size() < 6) throw sql::unexpected_answer("hello");
    const auto& facts_row = checked[0];
    const auto format = sql::number_in(facts_row, 0);
    if (format > schema_format)
        throw error(errc::refused, place.server + " has locks of format " + std::to_string(format) +
                                       " in the database " + place.schema +
                                       "; this Pawl knows format " + std::to_string(schema_format) +
                                       ", so use a newer one.");
    if (sql::text_in(facts_row, 1) == "t") throw read_only_error(place);
    facts.hold_off = sql::milliseconds_in(facts_row, 3);
    facts.clock = sql::number_in(facts_row, 5);
    facts.boot = sql::number_in(facts_row, 2) << 40 | last_start_;
    co_return facts;
}

// Two clients that begin at the same time make one schema, one after the other.
asio::awaitable<void> connector::make_schema(link_ptr link, error_place place) {
    const sql::named_activity activity(activity_, "it makes the database " + options_.schema);
    const auto lock_name = "'pawl-schema-" + options_.schema.substr(0, 50) + "'";
    rows_in(co_await link->query("SELECT GET_LOCK(" + lock_name + ", 8)", schema_statement_limit),
            place);
    const auto complete = co_await link->query(
        "SELECT 1 FROM `" + options_.schema + "`.meta WHERE one = 1", statement_limit);
    const auto* rows = std::get_if<std::vector<sql::row>>(&complete);
    if (const auto* failure = std::get_if<server_error>(&complete);
        failure != nullptr && failure->number == unknown_column)
        throw foreign_table_error(place, "meta");
    if (rows == nullptr || rows->empty()) {
        const auto statements = co_await missing_statements(link, place);
        for (const auto& statement : statements) {
            const auto answer = co_await link->query(statement, schema_statement_limit);
            const auto* failure = std::get_if<server_error>(&answer);
            if (failure == nullptr) continue;
            if (!is_network_failure(*failure) && is_missing_schema(*failure))
                throw missing_schema_error(place, failure->message);
            rows_in(answer, place);
        }
    }
    rows_in(co_await link->query("SELECT RELEASE_LOCK(" + lock_name + ")", statement_limit), place);
}

asio::awaitable<std::vector<std::string>> connector::missing_statements(link_ptr link,
                                                                        error_place place) {
    const auto quoted_schema = "'" + options_.schema + "'";
    std::vector<std::string> tables, procedures;
    const auto read = [&](std::vector<std::string>& names, const std::vector<sql::row>& answer) {
        for (const auto& each : answer)
            names.emplace_back(sql::text_in(each, 0));
    };
    read(tables, rows_in(co_await link->query("SELECT table_name FROM information_schema.tables "
                                              "WHERE table_schema = " +
                                                  quoted_schema,
                                              statement_limit),
                         place));
    read(procedures, rows_in(co_await link->query("SELECT routine_name FROM "
                                                  "information_schema.routines WHERE definer = "
                                                  "CURRENT_USER() AND routine_schema = " +
                                                      quoted_schema,
                                                  statement_limit),
                             place));
    if (const auto foreign = foreign_table(tables); !foreign.empty())
        throw foreign_table_error(place, foreign);
    const bool is_mariadb = ::mariadb_connection(link->get()) != 0;
    co_return statements_without(schema_statements(options_.schema, {}, is_mariadb), procedures);
}

asio::awaitable<examination> connector::examine(sql::session& connected, time_point give_up_at) {
    auto& session = static_cast<connection&>(connected);
    const auto all = variables_in(co_await session.run_text(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', "
        "'innodb_flush_log_at_trx_commit', 'log_bin', 'binlog_format', 'sync_binlog', 'wsrep_on', "
        "'group_replication_group_name')",
        give_up_at));
    const auto status = variables_in(co_await session.run_text(
        "SHOW GLOBAL STATUS WHERE Variable_name = 'wsrep_cluster_size'", give_up_at));
    server_state state;
    state.version = value_of(all, "version") + " " + value_of(all, "version_comment");
    state.flush = value_of(all, "innodb_flush_log_at_trx_commit");
    if (value_of(all, "log_bin") == "ON") {
        state.binlog_format = value_of(all, "binlog_format");
        state.binlog_sync = value_of(all, "sync_binlog");
    }
    if (is_galera(all)) {
        state.cluster = server_state::cluster_kind::galera;
        state.nodes = sql::number_in({value_of(status, "wsrep_cluster_size")}, 0);
    } else if (is_cluster(all)) {
        state.cluster = server_state::cluster_kind::group_replication;
    }
    state.is_pushed = session.facts().is_pushed;
    state.hold_off = session.facts().hold_off;
    const auto cipher =
        co_await session.run_text("SHOW SESSION STATUS LIKE 'Ssl_cipher'", give_up_at);
    state.has_tls = !cipher.empty() && !sql::text_in(cipher[0], 1).empty();
    const auto asked_at = context_.time->now();
    const auto clock = co_await session.run_text(
        "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), EXISTS (SELECT 1 FROM "
        "information_schema.tables WHERE table_schema = '" +
            options_.schema + "' AND table_name = 'lock')",
        give_up_at);
    if (clock.empty()) throw sql::unexpected_answer("state");
    const auto asked_for = context_.time->now() - asked_at;
    state.clock_offset = std::chrono::microseconds(sql::number_in(clock[0], 0)) -
                         (context_.time->wall_clock() - asked_for / 2).time_since_epoch();
    state.sees_tables = sql::number_in(clock[0], 1) == 1;
    if (options_.shedlock) {
        const auto answer = co_await session.run_text(
            shedlock_state_query(*options_.shedlock, options_.schema), give_up_at);
        if (answer.empty()) throw sql::unexpected_answer("state");
        state.future_locks = sql::number_in(answer[0], 0);
        state.has_zone = sql::flag_in(answer[0], 1);
        state.ignores_case = sql::flag_in(answer[0], 2);
    }
    co_return assess(state, options_, node_name(session.place()));
}

asio::awaitable<void> connector::check_durability(sql::session& connected, durability,
                                                  time_point give_up_at) {
    auto& session = static_cast<connection&>(connected);
    const auto all = variables_in(co_await session.run_text(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', "
        "'log_bin', 'sync_binlog')",
        give_up_at));
    const auto setting =
        lazy_setting(value_of(all, "innodb_flush_log_at_trx_commit"),
                     value_of(all, "log_bin") == "ON" ? value_of(all, "sync_binlog") : "1");
    if (!setting.empty())
        throw error(errc::unsupported, session.place().server +
                                           " answers before a lock is on its disk; set " + setting +
                                           " = 1 there, or leave the durability out.");
}

spi::capabilities connector::capabilities() const noexcept {
    return {.loss_is_pushed = false,
            .least_ttl = 100ms,
            .strictly_fair = true,
            .shared = true,
            .permits = true,
            .downgrades = true,
            .caller_values = true,
            .acquire_batch = true,
            .disk_durability = true,
            .latches = true,
            .barriers = true};
}

}  // namespace pawl::mysql
