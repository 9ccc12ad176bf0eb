// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One server that loses nothing: each write is on its disk before the reply. So the guarantee table
// promises exclusion in each fault but that of the clock.
#include "environments.hpp"
#include "test_machines.hpp"

#include <array>
#include <filesystem>

namespace real {

namespace {

using namespace std::chrono_literals;

const std::string valkey_program = PAWL_SOURCE_DIR "/.deps/valkey/usr/bin/valkey-server";

class single_server_environment : public environment {
public:
    // Without a program it is redis-server.
    single_server_environment(const environment_options& options, std::string program,
                              std::string url_options)
        : options_(options),
          url_options_(std::move(url_options)),
          machines_(1, options.clients),
          server_({.config = {"appendonly yes", "appendfsync always"},
                   .program = std::move(program),
                   .runs_on = machines_.of_servers().front()}) {}

    [[nodiscard]] client_access access(safeguards) override {
        // Redisson's readers need another object than its plain locks.
        return {.url = server_.url(url_options_), .has_readers = url_options_.empty()};
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
    [[nodiscard]] std::string logs() override { return end_of_log(server_); }

private:
    using self = single_server_environment;
    static const std::array<fault_definition<self>, 7> definitions;

    void crash(pace& pace) {
        server_.kill9();
        pace.pause(0ms, 1500ms);
        server_.start(true);
    }

    // When it continues, it executes what is in its sockets, for holds that may be over.
    void stop_and_continue(pace& pace) {
        server_.freeze();
        pace.pause(50ms, 4s);
        server_.thaw();
    }

    void forget_scripts(pace& pace) {
        for (auto times = 1 + pace.pick(5); times > 0; --times) {
            (void)server_.execute({"SCRIPT", "FLUSH"});
            pace.pause(0ms, 200ms);
        }
    }

    void end_connections(pace& pace) {
        for (auto times = 1 + pace.pick(5); times > 0; --times) {
            for (const auto* kind : {"normal", "pubsub"})
                (void)server_.execute({"CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"});
            pace.pause(0ms, 300ms);
        }
    }

    // The server refuses each write that needs memory.
    void fill_memory(pace& pace) {
        (void)server_.execute({"CONFIG", "SET", "maxmemory", "1"});
        pace.pause(50ms, 3s);
        (void)server_.execute({"CONFIG", "SET", "maxmemory", "0"});
    }

    void move_clock(pace& pace) {
        set_clock(pace.pick(2) == 0 ? pace.between(500ms, 8s) : -pace.between(500ms, 8s));
        pace.pause(100ms, 2s);
        set_clock(0us);
        // The leases that these steps have prolonged end.
        pace.pause(options_.longest_ttl, options_.longest_ttl);
    }

    void set_clock(std::chrono::microseconds ahead) {
        real::set_clock(machines_.clock(0), ahead, name_of(server_), losses_);
    }

    // The server is cut off from some of the clients, or sends without being heard.
    void isolate(pace& pace) { machines_.isolate_for_a_time(pace, {0}); }

    const environment_options options_;
    const std::string url_options_;
    test_machines machines_;
    support::redis_server server_;
    std::vector<memory_loss> losses_;
};

const std::array<fault_definition<single_server_environment>, 7>
    single_server_environment::definitions{
        {{.name = "crash", .run = &self::crash},
         {.name = "pause", .run = &self::stop_and_continue},
         {.name = "scripts", .run = &self::forget_scripts},
         {.name = "connections", .run = &self::end_connections},
         {.name = "full", .run = &self::fill_memory},
         {.name = "clock", .run = &self::move_clock},
         {.name = "partition", .run = &self::isolate, .needs_network = true}}};

}  // namespace

std::vector<std::string> single_server_faults() { return single_server_environment::fault_names(); }

std::unique_ptr<environment> start_redis(const environment_options& options) {
    return std::make_unique<single_server_environment>(options, "redis-server", "");
}

std::unique_ptr<environment> start_valkey(const environment_options& options) {
    return std::make_unique<single_server_environment>(options, valkey_program, "");
}

std::string obstacle_of_valkey() {
    return std::filesystem::exists(valkey_program) ? "" : "no valkey-server 8 or later was found";
}

std::unique_ptr<environment> start_redisson(const environment_options& options) {
    return std::make_unique<single_server_environment>(options, "redis-server", "?layout=redisson");
}

}  // namespace real
