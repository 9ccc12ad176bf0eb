// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Private ZooKeeper servers for tests, with folders and free ports of their own. The destructors
// end them.
#pragma once

#include "certificates.hpp"
#include "temp_folder.hpp"

#include <conformance/process.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace support {

// The folder with the server's libraries, which ./dev test fetches. Without them, throws
// std::runtime_error, whose text begins with "NOT RUN: ".
[[nodiscard]] std::string zookeeper_libraries();

struct zookeeper_options {
    std::vector<std::string> config{};       // more lines, as in zoo.cfg
    std::chrono::milliseconds tick{200};     // tickTime; sessions have 2 ticks to 2 min
    bool tls = false;                        // a second port, with TLS; certificates are made
    std::vector<std::string> environment{};  // more options of the JVM
};

// One server. Not thread-safe.
class zookeeper_server {
public:
    explicit zookeeper_server(zookeeper_options options = {});
    ~zookeeper_server();
    zookeeper_server(const zookeeper_server&) = delete;
    zookeeper_server& operator=(const zookeeper_server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::uint16_t tls_port() const noexcept { return tls_port_; }
    [[nodiscard]] const temp_folder& folder() const noexcept { return folder_; }
    // zookeeper://127.0.0.1:PORT, PATH, and the options of its ticks, which end with `more`.
    [[nodiscard]] std::string url(const std::string& path = {}, const std::string& more = {}) const;
    [[nodiscard]] std::string log() const;
    // The answer to a command of four letters; empty: none.
    [[nodiscard]] std::string ask(const std::string& command) const;
    // "leader", "follower", "standalone"; empty: it serves nobody.
    [[nodiscard]] std::string role() const;

    void kill9();   // SIGKILL
    void freeze();  // SIGSTOP
    void thaw();    // SIGCONT
    void start();   // on the same ports, with its data; waits until it serves
    void begin_start();
    [[nodiscard]] bool is_running();
    [[nodiscard]] bool is_frozen() const noexcept { return is_frozen_; }

private:
    friend class zookeeper_ensemble;
    struct member {
        int id = 0;  // 0: no member of an ensemble
        std::vector<std::string> lines{};
    };
    zookeeper_server(zookeeper_options options, std::uint16_t port);

    void write_config(const member& place);
    [[nodiscard]] bool wait_until_serving();

    const zookeeper_options options_;
    temp_folder folder_;
    std::uint16_t port_ = 0;
    std::uint16_t tls_port_ = 0;
    bool is_frozen_ = false;
    std::optional<pawl::conformance::child> process_;
};

// The options of a URL for servers with this tick.
[[nodiscard]] std::string zookeeper_url_options(std::chrono::milliseconds tick);

}  // namespace support
