// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One MariaDB server. Each commit is on the disk before the answer, so the guarantee table promises
// exclusion in each fault but that of the clock.
#include "environments.hpp"
#include "test_machines.hpp"

#include <support/mariadb_server.hpp>

#include <array>

namespace real {

namespace {

using namespace std::chrono_literals;

const std::string user = "client";

class mariadb_environment : public environment {
public:
    explicit mariadb_environment(const environment_options& options)
        : options_(options),
          machines_(1, options.clients),
          server_({.runs_on = machines_.of_servers().front()}) {
        server_.execute("CREATE USER " + user + "@'%'");
        server_.execute("GRANT ALL ON *.* TO " + user + "@'%'");
    }

    // Without safeguards, the server writes its log every 10 s. Only holds that outlast a crash
    // show it.
    [[nodiscard]] client_access access(safeguards wanted) override {
        is_lazy_ = wanted == safeguards::naive;
        if (is_lazy_) {
            server_.add_options(
                {"--innodb-flush-log-at-trx-commit=0", "--innodb-flush-log-at-timeout=10"});
            server_.stop();
            server_.start();
        }
        return {.url = server_.url("pawl", {}, user), .long_hold_interval = is_lazy_ ? 2U : 40U};
    }

    [[nodiscard]] support::machine client_machine(std::size_t index) const override {
        return machines_.of_client(index);
    }

    [[nodiscard]] static std::vector<std::string> fault_names() { return names_of(definitions); }

    [[nodiscard]] std::vector<fault> faults() override {
        return faults_of(*this, definitions, machines_.obstacle());
    }

    // No fault of this server is evidence for an excuse.
    [[nodiscard]] std::vector<server_period> history() override { return {}; }
    [[nodiscard]] std::vector<memory_loss> memory_losses() override { return losses_; }
    [[nodiscard]] std::vector<pid_t> server_processes() override { return {server_.pid()}; }
    [[nodiscard]] std::string logs() override { return end_of_log(name(), server_.log()); }

private:
    using self = mariadb_environment;
    static const std::array<fault_definition<self>, 6> definitions;

    [[nodiscard]] std::string name() const {
        return server_.host() + ":" + std::to_string(server_.port());
    }

    void crash(pace& pace) {
        server_.kill9();
        if (!is_lazy_) pace.pause(0ms, 1500ms);
        server_.start();
    }

    // When it continues, it executes what is in its sockets, for holds that may be over.
    void stop_and_continue(pace& pace) {
        server_.freeze();
        pace.pause(50ms, 4s);
        server_.thaw();
    }

    // Of some clients, the one for requests or the one for messages.
    void end_connections(pace& pace) {
        for (auto times = 1 + pace.pick(5); times > 0; --times) {
            for (const auto& each : server_.execute(
                     "SELECT id FROM information_schema.processlist WHERE user = '" + user + "'"))
                if (pace.pick(2) == 0) end_connection(*each.front());
            pace.pause(0ms, 300ms);
        }
    }

    void end_connection(const std::string& id) const {
        try {
            server_.execute("KILL " + id);
        } catch (const support::mariadb_failure&) {}  // it has just ended
    }

    void refuse_writes(pace& pace) {
        server_.execute("SET GLOBAL read_only = 1");
        pace.pause(50ms, 3s);
        server_.execute("SET GLOBAL read_only = 0");
    }

    void move_clock(pace& pace) {
        set_clock(pace.pick(2) == 0 ? pace.between(500ms, 8s) : -pace.between(500ms, 8s));
        pace.pause(100ms, 2s);
        set_clock(0us);
        // The leases that these steps have prolonged end.
        pace.pause(options_.longest_ttl, options_.longest_ttl);
    }

    void set_clock(std::chrono::microseconds ahead) {
        real::set_clock(machines_.clock(0), ahead, name(), losses_);
    }

    // The server is cut off from some of the clients, or sends without being heard.
    void isolate(pace& pace) { machines_.isolate_for_a_time(pace, {0}); }

    const environment_options options_;
    test_machines machines_;
    support::mariadb_server server_;
    bool is_lazy_ = false;
    std::vector<memory_loss> losses_;
};

const std::array<fault_definition<mariadb_environment>, 6> mariadb_environment::definitions{
    {{.name = "crash", .run = &self::crash},
     {.name = "pause", .run = &self::stop_and_continue},
     {.name = "connections", .run = &self::end_connections},
     {.name = "read-only", .run = &self::refuse_writes},
     {.name = "clock", .run = &self::move_clock},
     {.name = "partition", .run = &self::isolate, .needs_network = true}}};

}  // namespace

std::vector<std::string> mariadb_faults() { return mariadb_environment::fault_names(); }

std::unique_ptr<environment> start_mariadb(const environment_options& options) {
    return std::make_unique<mariadb_environment>(options);
}

std::string obstacle_of_mariadb() {
    return support::mariadb_server::is_installed() ? "" : "MariaDB is not installed";
}

}  // namespace real
