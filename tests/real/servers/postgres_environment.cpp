// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A PostgreSQL server and its streaming standby. Each commit is on the disk before the answer, and
// after a failover nothing is granted for the longest ttl. So the guarantee table promises
// exclusion in each fault but those of the clock, and of an old primary that goes on.
#include "environments.hpp"
#include "test_machines.hpp"

#include <support/postgres_server.hpp>

#include <pawl/postgres.hpp>

#include <array>
#include <csignal>
#include <stdexcept>

namespace real {

namespace {

using namespace std::chrono_literals;

const std::string database = "locks";

class postgres_environment : public environment {
public:
    explicit postgres_environment(const environment_options& options)
        : options_(options), machines_(2, options.clients) {
        primary().execute("CREATE DATABASE " + database);
        primary().execute(pawl::postgres::schema_of({}), database);
        // The schema begins with 30 s, and so long would be the pause after each failover.
        primary().execute(
            "UPDATE pawl.meta SET most_ttl = " + std::to_string(options_.longest_ttl.count()),
            database);
        begin_period(now());
        standby().catch_up();
    }

    // Without safeguards, a crash forgets the last commits, and a failover has no pause. Only holds
    // that outlast these show it.
    [[nodiscard]] client_access access(safeguards wanted) override {
        const bool is_naive = wanted == safeguards::naive;
        if (is_naive) make_commits_lazy();
        return {.url = "postgresql://postgres@" + name_of(servers_[0]) + "," +
                       name_of(servers_[1]) + "/" + database +
                       (is_naive ? "?after_failover=go" : ""),
                .long_hold_interval = is_naive ? 2U : 40U};
    }

    [[nodiscard]] support::machine client_machine(std::size_t index) const override {
        return machines_.of_client(index);
    }

    [[nodiscard]] static std::vector<std::string> fault_names() { return names_of(definitions); }

    [[nodiscard]] std::vector<fault> faults() override {
        return faults_of(*this, definitions, machines_.obstacle());
    }

    [[nodiscard]] std::vector<server_period> history() override { return history_; }
    [[nodiscard]] std::vector<memory_loss> memory_losses() override { return losses_; }
    [[nodiscard]] std::vector<pid_t> server_processes() override {
        return {servers_[0].pid(), servers_[1].pid()};
    }
    [[nodiscard]] std::string logs() override {
        return end_of_log(name_of(primary()), primary().log()) +
               end_of_log(name_of(standby()), standby().log());
    }

private:
    using self = postgres_environment;
    static const std::array<fault_definition<self>, 9> definitions;

    [[nodiscard]] support::postgres_server& primary() { return servers_[primary_]; }
    [[nodiscard]] support::postgres_server& standby() { return servers_[1 - primary_]; }
    [[nodiscard]] static std::string name_of(const support::postgres_server& server) {
        return server.host() + ":" + std::to_string(server.port());
    }
    // The standby looks for its primary often.
    [[nodiscard]] static support::postgres_options options_with(
        const support::machine& runs_on, const support::postgres_server* standby_of = nullptr) {
        return {.config = {"wal_retrieve_retry_interval = 100ms"},
                .access = {},
                .flushes = true,
                .standby_of = standby_of,
                .runs_on = runs_on};
    }

    void make_commits_lazy() {
        is_lazy_ = true;
        primary().execute(
            "CREATE FUNCTION pawl.be_lazy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "PERFORM set_config('synchronous_commit', 'off', true); RETURN NULL; END $$;"
            "CREATE TRIGGER be_lazy BEFORE UPDATE OR INSERT ON pawl.lock FOR EACH STATEMENT "
            "EXECUTE FUNCTION pawl.be_lazy()",
            database);
    }

    void crash(pace& pace) {
        if (is_lazy_) stop_log_writer(pace);
        primary().kill9();
        if (!is_lazy_) pace.pause(0ms, 1500ms);
        primary().start();
        wait_for_standby(pace);
    }

    // What commits do not wait for is then in the server's memory only, as at the crash of a host.
    void stop_log_writer(pace& pace) {
        const auto process =
            primary().value("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
        ::kill(std::stoi(process), SIGSTOP);
        pace.pause(500ms, 1500ms);
    }

    // When it continues, it executes what is in its sockets, for holds that may be over.
    void stop_and_continue(pace& pace) {
        primary().freeze();
        pace.pause(50ms, 4s);
        primary().thaw();
    }

    void end_sessions(pace& pace) {
        for (auto times = 1 + pace.pick(5); times > 0; --times) {
            primary().execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" +
                database + "'");
            pace.pause(0ms, 300ms);
        }
    }

    void refuse_writes(pace& pace) {
        primary().set("default_transaction_read_only", "on");
        pace.pause(50ms, 3s);
        primary().set("default_transaction_read_only", "");
    }

    void move_clock(pace& pace) {
        set_clock(pace.pick(2) == 0 ? pace.between(500ms, 8s) : -pace.between(500ms, 8s));
        pace.pause(100ms, 2s);
        set_clock(0us);
        // The leases that these steps have prolonged end.
        pace.pause(options_.longest_ttl, options_.longest_ttl);
    }

    void set_clock(std::chrono::microseconds ahead) {
        real::set_clock(machines_.clock(primary_), ahead, name_of(primary()), losses_);
    }

    // The primary is cut off from some of the clients, and from its standby half of the time; or
    // sends without being heard.
    void isolate(pace& pace) {
        std::vector<std::size_t> servers{primary_};
        if (pace.pick(2) == 0) servers.push_back(1 - primary_);
        machines_.isolate_for_a_time(pace, servers);
    }

    // The server sends all to its standby before it ends.
    void plan_failover(pace& pace) {
        primary().stop();
        end_period();
        replace_primary(pace);
    }

    // The last writes are the primary's alone when it dies.
    void crash_without_replication(pace& pace) {
        standby().stop_replication();
        pace.pause(300ms, 800ms);
        primary().kill9();
        end_period();
        replace_primary(pace);
    }

    // Only this fault is evidence for an excuse: the old primary goes on beside the new one, with
    // its clients and with what is in its sockets.
    void promote_beside_primary(pace& pace) {
        primary().freeze();
        const auto old = history_.size() - 1;
        const auto asked = now();
        history_.push_back({.server = name_of(standby()),
                            .state = {.run_id = next_run(), .replication_id = {}},
                            .from = {.earliest = asked, .latest = asked}});
        standby().promote();
        history_.back().until = {.earliest = asked, .latest = now()};
        const auto run = history_.back().state.run_id;
        pace.pause(0ms, 1s);
        primary().thaw();
        pace.pause(300ms, 3s);
        const auto retired = now();
        primary().kill9();
        history_[old].until = {.earliest = retired, .latest = now()};
        primary_ = 1 - primary_;
        begin_period(asked, run);
        add_standby(pace);
    }

    void replace_primary(pace& pace) {
        standby().promote();
        primary_ = 1 - primary_;
        begin_period(now());
        add_standby(pace);
    }

    // The old primary's data are deleted.
    void add_standby(pace& pace) {
        standby().start_as_standby_of(primary());
        wait_for_standby(pace);
    }

    void wait_for_standby(pace& pace) {
        pace.until(
            [this] { return primary().value("SELECT count(*) FROM pg_stat_replication") == "1"; },
            "the standby does not follow");
    }

    // Of the primary. Its timeline is the epoch of its tokens.
    void begin_period(instant since, const std::string& run = {}) {
        const auto timeline = primary().value(
            "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))"
            "::bit(32)::int");
        server_state state{.run_id = run.empty() ? next_run() : run,
                           .replication_id = {},
                           .is_master = true,
                           .is_serving = true,
                           .epoch = std::stoull(timeline)};
        for (std::size_t i = 0; i < options_.keys.size(); ++i)
            state.keys.insert(i);
        history_.push_back({.server = name_of(primary()),
                            .state = std::move(state),
                            .from = {.earliest = since, .latest = now()}});
    }
    void end_period() { history_.back().until = {.earliest = now(), .latest = now()}; }
    [[nodiscard]] std::string next_run() const { return std::to_string(history_.size()); }

    const environment_options options_;
    test_machines machines_;
    std::array<support::postgres_server, 2> servers_{
        support::postgres_server(options_with(machines_.of_servers()[0])),
        support::postgres_server(options_with(machines_.of_servers()[1], &servers_[0]))};
    std::size_t primary_ = 0;
    bool is_lazy_ = false;
    std::vector<server_period> history_;
    std::vector<memory_loss> losses_;
};

const std::array<fault_definition<postgres_environment>, 9> postgres_environment::definitions{
    {{.name = "crash", .run = &self::crash},
     {.name = "pause", .run = &self::stop_and_continue},
     {.name = "connections", .run = &self::end_sessions},
     {.name = "read-only", .run = &self::refuse_writes},
     {.name = "clock", .run = &self::move_clock},
     {.name = "partition", .run = &self::isolate, .needs_network = true},
     {.name = "planned", .run = &self::plan_failover},
     {.name = "lost-writes", .run = &self::crash_without_replication},
     {.name = "two-primaries", .run = &self::promote_beside_primary}}};

}  // namespace

std::vector<std::string> postgres_faults() { return postgres_environment::fault_names(); }

std::unique_ptr<environment> start_postgres(const environment_options& options) {
    return std::make_unique<postgres_environment>(options);
}

std::string obstacle_of_postgres() {
    try {
        (void)support::postgres_programs();
        return {};
    } catch (const std::runtime_error&) {
        return "PostgreSQL is not installed";
    }
}

}  // namespace real
