// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An HTTP server whose answers a test scripts, for behaviour that a real server cannot show.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace support {

// A whole request: its lines, and its body.
struct http_request {
    std::string method, target, head, body;
};

// "HTTP/1.1 STATUS …" with this body and a Content-Length.
[[nodiscard]] std::string http_answer(unsigned status, const std::string& body,
                                      const std::string& more_headers = {});

class http_server {
public:
    // Called in a thread of the connection. Returns the bytes of the answer, also if they are no
    // HTTP. Empty: the connection ends without an answer.
    using script = std::function<std::string(const http_request&)>;

    explicit http_server(script answers);
    ~http_server();
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    // All that were ever accepted.
    [[nodiscard]] std::size_t connections() const noexcept { return connections_; }
    // Those that are open.
    [[nodiscard]] std::size_t open_connections();
    [[nodiscard]] std::size_t requests() const noexcept { return requests_; }
    // Ends the open connections, as a server does with idle ones.
    void end_connections();

private:
    void accept_all();
    void serve(int socket);

    const script script_;
    std::uint16_t port_ = 0;
    int listener_ = -1;
    std::atomic<std::size_t> connections_ = 0, requests_ = 0;
    std::mutex mutex_;
    std::set<int> open_sockets_;
    std::vector<std::jthread> connection_threads_;
    std::jthread accept_thread_;
};

}  // namespace support
