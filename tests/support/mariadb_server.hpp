// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private MariaDB or MySQL server for tests, with its own folder and its own free port,
// on 127.0.0.1 unless it runs on another machine. The destructor ends it.
#pragma once

#include "machine.hpp"
#include "mariadb_client.hpp"
#include "temp_folder.hpp"

#include <conformance/process.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace support {

enum class database_product { mariadb, mysql };

struct mariadb_settings {
    std::vector<std::string> options{};  // of the server, such as "--max-connections=20"
    database_product product = database_product::mariadb;
    machine runs_on{};
    // May add files to the new data folder.
    std::function<void(const std::filesystem::path&)> prepare{};
};

// Not thread-safe.
class mariadb_server {
public:
    // Throws std::runtime_error, whose text begins with "NOT RUN: ", if the product is not
    // installed.
    explicit mariadb_server(mariadb_settings settings = {});
    [[nodiscard]] static bool is_installed(database_product product = database_product::mariadb);
    ~mariadb_server();
    mariadb_server(const mariadb_server&) = delete;
    mariadb_server& operator=(const mariadb_server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] const std::string& host() const noexcept { return settings_.runs_on.host; }
    // mysql://USER@HOST:PORT/DATABASE, or mariadb://…, followed by `more`.
    [[nodiscard]] std::string url(const std::string& database = "pawl",
                                  const std::string& more = {},
                                  const std::string& user = "root") const;
    [[nodiscard]] std::string log() const;

    // The superuser's, in a connection for this call.
    std::vector<mariadb_row> execute(const std::string& sql) const;
    [[nodiscard]] std::string value(const std::string& sql) const;
    [[nodiscard]] std::int64_t number(const std::string& sql) const {
        return std::stoll(value(sql));
    }

    void stop();    // SIGTERM: ends the sessions, writes all, and waits for its end
    void kill9();   // SIGKILL
    void freeze();  // SIGSTOP
    void thaw();    // SIGCONT
    void start();   // on the same port
    // For the next start.
    void add_options(const std::vector<std::string>& more) {
        settings_.options.insert(settings_.options.end(), more.begin(), more.end());
    }
    [[nodiscard]] bool is_running();
    [[nodiscard]] bool is_frozen() const noexcept { return is_frozen_; }
    [[nodiscard]] pid_t pid() const noexcept { return process_->pid(); }

private:
    [[nodiscard]] bool try_start();
    [[nodiscard]] mariadb_client superuser() const;

    mariadb_settings settings_;
    temp_folder folder_;  // in memory, if there is enough
    std::uint16_t port_ = 0;
    bool is_frozen_ = false;
    std::optional<pawl::conformance::child> process_;
};

// mysql://root@HOST:PORT,…/pawl of these of the nodes, in this order, followed by `more`.
[[nodiscard]] std::string url_of(const std::vector<std::unique_ptr<mariadb_server>>& nodes,
                                 const std::vector<std::size_t>& indexes,
                                 const std::string& more = {});

}  // namespace support
