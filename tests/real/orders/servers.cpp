// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "servers.hpp"

#include "injector.hpp"

#include <orders/tables.hpp>

#include <support/eventually.hpp>

#include <pawl/guard/postgres.hpp>

#include <limits>
#include <stdexcept>

namespace real::orders {

namespace {

using namespace std::chrono_literals;

constexpr auto always = std::numeric_limits<std::size_t>::max();

}  // namespace

order_servers::order_servers(const server_options& options) : options_(options) {
    databases_[0] = std::make_unique<support::postgres_server>(options_with(nullptr));
    databases_[1] = std::make_unique<support::postgres_server>(options_with(databases_[0].get()));
    wait_for_standby();
    database_ = primary().create_database();
    support::sql_client session(primary_url());
    pawl::guard::postgres_connection view(session.handle());
    shop::open_shop(view, options.is_unique, static_cast<std::int64_t>(options.stripes),
                    options.items);
    for (std::size_t i = 0; i < middle_.size(); ++i) {
        middle_[i] = std::make_unique<support::postgres_proxy>(databases_[i]->port());
        middle_[i]->inject({.text = lost_answer_mark,
                            .kind = support::sql_fault_kind::lose_reply,
                            .times = always});
        middle_[i]->inject({.text = lost_request_mark,
                            .kind = support::sql_fault_kind::lose_request,
                            .times = always});
    }
    start_outside();
}

// The standby looks for its primary often. With a name of a standby, each commit waits for it.
support::postgres_options order_servers::options_with(
    const support::postgres_server* standby_of) const {
    support::postgres_options result{.config = {"wal_retrieve_retry_interval = 100ms"},
                                     .access = {},
                                     .standby_of = standby_of,
                                     .runs_on = {}};
    if (options_.is_synchronous) result.config.emplace_back("synchronous_standby_names = '*'");
    return result;
}

void order_servers::start_outside() {
    outside_.emplace(pawl::conformance::launch_as_helper({"orders-outside", outside_log()}));
    const auto line = outside_->read_line(60s);
    const std::string prefix = "listening ";
    if (!line || !line->starts_with(prefix))
        throw std::runtime_error("the service outside does not start");
    outside_port_ = static_cast<std::uint16_t>(std::stoul(line->substr(prefix.size())));
}

std::string order_servers::database_url(const std::string& session) const {
    return "host=127.0.0.1,127.0.0.1 port=" + std::to_string(middle_[0]->port()) + "," +
           std::to_string(middle_[1]->port()) + " user=postgres dbname=" + database_ +
           " target_session_attrs=read-write connect_timeout=5 application_name=" + session;
}

std::string order_servers::primary_url() const { return primary().url(database_); }

std::int64_t order_servers::number(const std::string& query) const {
    return support::sql_client(primary_url()).number(query);
}

bool order_servers::blocks_others(const std::string& session) const {
    return number(
               "SELECT count(*) FROM pg_stat_activity AS waiting, "
               "unnest(pg_blocking_pids(waiting.pid)) AS blocking JOIN pg_stat_activity AS "
               "session ON session.pid = blocking WHERE waiting.wait_event_type = 'Lock' "
               "AND session.application_name = '" +
               session + "'") > 0;
}

void order_servers::empty_locks() { locks_.execute({"FLUSHALL"}); }

void order_servers::restart_locks() {
    locks_.kill9();
    locks_.start(false);
}

// A commit that nobody was told of is seen after the crash: the standby must get it, too, before
// the next failover.
void order_servers::crash_database() {
    primary().kill9();
    primary().start();
    if (options_.is_synchronous) wait_for_standby();
}

void order_servers::fail_over() {
    primary().kill9();
    standby().promote();
    primary_ = 1 - primary_;
    standby().start_as_standby_of(primary());
    wait_for_standby();
}

void order_servers::wait_for_standby() {
    const auto follows = [this] {
        return primary().value(
                   "SELECT count(*) FROM pg_stat_replication WHERE state = "
                   "'streaming'") == "1";
    };
    if (!support::eventually(follows, 120s))
        throw std::runtime_error("the standby does not follow: " + standby().log());
    standby().catch_up();
}

}  // namespace real::orders
