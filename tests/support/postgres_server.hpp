// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private PostgreSQL server for tests, with its own folder and its own free port, on 127.0.0.1
// unless it runs on another machine. The destructor ends it.
#pragma once

#include "machine.hpp"
#include "sql_client.hpp"
#include "temp_folder.hpp"

#include <conformance/process.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace support {

class postgres_server;

struct postgres_options {
    std::vector<std::string> config;  // lines as in postgresql.conf: "max_connections = 20"
    std::vector<std::string> access;  // lines as in pg_hba.conf, before those that trust everybody
    bool flushes = false;             // fsync, for tests that the operating system crashes
    const postgres_server* standby_of = nullptr;  // begins as a copy of this server, and follows it
    machine runs_on{};
};

// The folder of the newest installed PostgreSQL's programs. Throws std::runtime_error, whose text
// begins with "NOT RUN: ", if there is none.
[[nodiscard]] std::string postgres_programs();

// Not thread-safe.
class postgres_server {
public:
    explicit postgres_server(postgres_options options = {});
    ~postgres_server();
    postgres_server(const postgres_server&) = delete;
    postgres_server& operator=(const postgres_server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] const std::string& host() const noexcept { return options_.runs_on.host; }
    // postgresql://postgres@HOST:PORT/DATABASE, followed by `more`.
    [[nodiscard]] std::string url(const std::string& database = "postgres",
                                  const std::string& more = {}) const;
    [[nodiscard]] std::string log() const;

    // Makes an empty database, and returns its name. A standby gets it from its primary.
    std::string create_database();
    // The superuser's, in a connection for this call.
    std::vector<sql_row> execute(const std::string& sql,
                                 const std::string& database = "postgres") const;
    [[nodiscard]] std::string value(const std::string& sql,
                                    const std::string& database = "postgres") const;
    // ALTER SYSTEM SET, and waits until new sessions have the value. An empty value resets it.
    void set(const std::string& parameter, const std::string& value);

    void stop();    // SIGINT: ends the sessions, writes all, and waits for its end
    void kill9();   // SIGKILL to all of its processes
    void freeze();  // SIGSTOP to all of its processes
    void thaw();    // SIGCONT
    void start();   // on the same port
    [[nodiscard]] bool is_running();
    [[nodiscard]] bool is_frozen() const noexcept { return is_frozen_; }
    [[nodiscard]] pid_t pid() const noexcept { return process_->pid(); }

    // Of a standby: waits until it has everything that its primary has written so far.
    void catch_up();
    // Of a standby: what the primary writes from now on does not come.
    void stop_replication();
    // Of a standby: it begins a timeline of its own, and accepts writes.
    void promote();
    // Of a server that does not run: it forgets its data, begins as a copy of `primary`, and
    // follows it.
    void start_as_standby_of(const postgres_server& primary);

private:
    [[nodiscard]] bool try_start();
    [[nodiscard]] bool is_elsewhere() const { return !options_.runs_on.launcher.empty(); }
    [[nodiscard]] std::string superuser_url(const std::string& database) const;
    [[nodiscard]] std::string data() const { return folder_.file("data"); }
    [[nodiscard]] std::vector<int> processes() const;  // without the first one
    void make_data() const;
    void write_config() const;
    void forget_dead_server() const;

    postgres_options options_;
    temp_folder folder_;  // in memory, if there is enough
    std::uint16_t port_ = 0;
    int database_count_ = 0;
    bool is_frozen_ = false;
    std::optional<pawl::conformance::child> process_;
};

}  // namespace support
