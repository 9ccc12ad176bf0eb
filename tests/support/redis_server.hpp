// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private server for one test, with its own folder and its own free port. The destructor ends it.
#pragma once

#include "certificates.hpp"
#include "machine.hpp"
#include "resp.hpp"
#include "temp_folder.hpp"

#include <conformance/process.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace support {

struct redis_options {
    std::vector<std::string> config;  // lines as in redis.conf: "requirepass secret"
    bool tls = false;                 // the port then speaks TLS only; certificates are made for it
    bool client_certificates = false;
    certificate_options certificate{};  // of the server
    std::string certificates{};         // another server's folder, whose certificates are used
    bool sentinel = false;
    bool cluster = false;   // a node of a cluster, with a free port for the other nodes
    std::string program{};  // empty: redis-server, or PAWL_TEST_SERVER
    std::string password;   // for `execute`; set `requirepass` or a user in `config` as well
    machine runs_on{};
};

// A server with SET … IFEQ, which ./dev test fetches: Valkey 8.1 or later. Without it, throws
// std::runtime_error, whose text begins with "NOT RUN: ".
[[nodiscard]] std::string conditional_set_program();

// redis-server, or the program in the environment variable PAWL_TEST_SERVER (valkey-server). Keeps
// nothing on disk unless `config` says so. Not thread-safe.
class redis_server {
public:
    explicit redis_server(redis_options options = {});
    ~redis_server();
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] const std::string& host() const noexcept { return options_.runs_on.host; }
    // Where the other nodes of a cluster connect to.
    [[nodiscard]] std::uint16_t cluster_port() const noexcept { return cluster_port_; }
    [[nodiscard]] const std::string& unix_socket() const noexcept { return socket_path_; }
    [[nodiscard]] const temp_folder& folder() const noexcept { return folder_; }
    // redis://HOST:PORT, or rediss://…, followed by `more`.
    [[nodiscard]] std::string url(const std::string& more = {}) const;
    [[nodiscard]] std::string unix_url(const std::string& more = {}) const;
    [[nodiscard]] std::string log() const;

    // Over the unix socket, so not through any proxy. Throws std::runtime_error if no reply comes.
    resp_value execute(const command_words& words);
    // A connection of its own, to subscribe, monitor or block.
    [[nodiscard]] std::unique_ptr<resp_client> connect() const;
    // Every key, sorted.
    [[nodiscard]] std::vector<std::string> keys();
    // The server's clock, in ms since 1970.
    [[nodiscard]] std::int64_t time_ms();
    // Makes a server with `cluster-enabled yes` a cluster of one node, and waits until it is ready.
    void serve_all_slots();

    void terminate();  // SIGTERM, and waits for its end
    void kill9();      // SIGKILL
    void freeze();     // SIGSTOP
    void thaw();       // SIGCONT
    // On the same port. Data on disk are kept unless `with_data` is false.
    void start(bool with_data = true);
    [[nodiscard]] bool is_running();
    [[nodiscard]] bool is_frozen() const noexcept { return is_frozen_; }
    [[nodiscard]] pid_t pid() const noexcept { return process_->pid(); }

private:
    [[nodiscard]] bool try_start();
    [[nodiscard]] std::string program() const;
    void write_config() const;
    void make_certificates() const;

    redis_options options_;
    temp_folder folder_;
    std::string socket_path_;
    std::uint16_t port_ = 0;
    std::uint16_t cluster_port_ = 0;
    bool is_frozen_ = false;
    std::optional<pawl::conformance::child> process_;
    std::unique_ptr<resp_client> client_;
};

}  // namespace support
