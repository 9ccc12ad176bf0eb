// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One connection through the fault proxy: the client's socket, the server's, and the state of both.
#pragma once

#include "fault_proxy.hpp"
#include "proxy_pipe.hpp"

#include <deque>
#include <string>

namespace support {

// The settings of the proxy, shared by all connections.
struct proxy_state {
    struct injected_fault {
        fault definition;
        std::size_t matched = 0;
    };
    std::vector<injected_fault> faults;
    std::size_t strike_count = 0;
    bool frozen = false;
    bool drop_pushes = false;
    std::chrono::milliseconds request_delay{}, reply_delay{};
    std::vector<seen_command> commands;

    // The fault for this command, which is counted as applied; null when the command may pass.
    const fault* match_fault(const command_words& words);
};

class proxy_connection {
public:
    proxy_connection(int client, int server, std::size_t number)
        : client_(client), server_(server), number_(number) {}
    proxy_connection(const proxy_connection&) = delete;
    proxy_connection& operator=(const proxy_connection&) = delete;
    ~proxy_connection();

    [[nodiscard]] int client() const noexcept { return client_; }
    [[nodiscard]] int server() const noexcept { return server_; }
    [[nodiscard]] bool is_swallowing() const noexcept { return swallowing_; }
    [[nodiscard]] bool is_over() const noexcept { return over_; }
    // The time at which there is something to send.
    [[nodiscard]] pawl::time_point wakes_at() const noexcept;

    void read_client(proxy_state& state);
    void read_server(proxy_state& state);
    void flush(pawl::time_point now);

private:
    struct expected_reply {
        // Here `reply` means: pass it on, and `swallow`: drop this reply only.
        fault_kind kind = fault_kind::reply;
        std::chrono::milliseconds delay{};
        bool swallow_next = false;
        std::string own_reply{};  // a reply that does not come from the server
    };
    void handle_command(const command_words& words, std::string bytes, proxy_state& state);
    void apply_fault(const fault& applied, std::string bytes, pawl::time_point not_before);
    void handle_reply(std::string bytes, bool push, const proxy_state& state);
    void send_own_replies();
    void expect_replies(const command_words& words);

    int client_;
    int server_;
    std::size_t number_;
    std::string from_client_, from_server_;
    proxy_pipe to_client_, to_server_;
    std::deque<expected_reply> expected_;
    bool resp3_ = false;
    bool swallowing_ = false;
    bool ends_when_sent_ = false;
    bool over_ = false;
};

}  // namespace support
