// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private server of Consul for tests, or a cluster, with its own folder and its own free ports on
// 127.0.0.1. The destructor ends it.
#pragma once

#include "temp_folder.hpp"

#include <conformance/process.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace support {

struct consul_settings {
    bool has_acl = false;  // with the initial management token `consul_root_token`
    // Files in PEM format; the port of `https_port` then has TLS.
    std::string ca_file{}, cert_file{}, key_file{};
};

inline constexpr const char* consul_root_token = "11111111-2222-3333-4444-555555555555";

// The command `consul`. Throws std::runtime_error, whose text begins with "NOT RUN: ", if it is not
// there.
[[nodiscard]] std::string consul_program();

// Not thread-safe.
class consul_server {
public:
    explicit consul_server(consul_settings settings = {});
    ~consul_server();
    consul_server(const consul_server&) = delete;
    consul_server& operator=(const consul_server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return http_port_; }
    [[nodiscard]] std::uint16_t https_port() const noexcept { return https_port_; }
    // "127.0.0.1:8500"
    [[nodiscard]] std::string address() const;
    [[nodiscard]] std::string url(const std::string& more = {}) const {
        return "consul://" + address() + more;
    }
    [[nodiscard]] std::string log() const;
    // Runs `consul WORDS…` at this server, with the root token if there is an ACL, and returns what
    // it prints. Throws std::runtime_error if it fails.
    std::string run(const std::vector<std::string>& words) const;
    // Such a process, which goes on.
    [[nodiscard]] pawl::conformance::child launch(const std::vector<std::string>& words) const;
    // The bytes of the response to a request of the HTTP API, which ends the connection.
    [[nodiscard]] std::string exchange(const std::string& method, const std::string& path,
                                       const std::string& body = {},
                                       const std::string& more_headers = {}) const;
    // The body of such a response; with the root token, if there is an ACL.
    std::string request(const std::string& method, const std::string& path,
                        const std::string& body = {}) const;

    void kill9();   // SIGKILL
    void freeze();  // SIGSTOP
    void thaw();    // SIGCONT
    void start();   // on the same ports, until there is a leader
    [[nodiscard]] bool is_running();

private:
    friend class consul_cluster;
    // Of a member of a cluster.
    consul_server(consul_settings settings, std::size_t servers, std::size_t number);

    void choose_ports();
    void write_config(const std::vector<std::uint16_t>& members);
    void launch_agent();
    void wait_for_leader();

    const consul_settings settings_;
    const std::size_t servers_ = 1, number_ = 0;
    temp_folder folder_;
    std::uint16_t http_port_ = 0, https_port_ = 0, server_port_ = 0, serf_port_ = 0;
    std::optional<pawl::conformance::child> process_;
};

// Servers that elect a leader.
class consul_cluster {
public:
    explicit consul_cluster(std::size_t servers = 3);

    [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
    [[nodiscard]] consul_server& server(std::size_t number) { return *servers_.at(number); }
    // The number of the leader; throws if there is none for long.
    [[nodiscard]] std::size_t leader();
    // Starts it again, and does not wait: a majority must run for a leader.
    void launch(std::size_t number) { server(number).launch_agent(); }
    // consul://HOST:PORT,… of all, followed by `more`.
    [[nodiscard]] std::string url(const std::string& more = {}) const;

private:
    std::vector<std::unique_ptr<consul_server>> servers_;
};

}  // namespace support
