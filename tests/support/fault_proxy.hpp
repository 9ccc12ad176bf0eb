// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A proxy that reads the Redis protocol and injects faults.
#pragma once

#include "resp.hpp"

#include <pawl/types.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace support {

using matcher = std::function<bool(const command_words&)>;

[[nodiscard]] matcher any_command();
// The command's name, in any case.
[[nodiscard]] matcher named(std::string command);
// Some word equals `word`.
[[nodiscard]] matcher with_word(std::string word);

// The effect of a fault on a command. A stream loses nothing in its middle: if a request or a reply
// is lost, the connection is lost with everything behind it.
enum class fault_kind {
    lose_request,    // it never arrives; the connection is cut
    lose_reply,      // it is executed; the connection is cut before a byte of the reply
    cut_reply,       // half of the reply arrives, then the connection is cut
    delay_request,   // it and everything behind it wait for `delay`
    delay_reply,     // the reply and everything behind it wait for `delay`
    repeat_request,  // it arrives twice; the second reply is not passed on
    swallow,         // from then on nothing passes either way; the connection stays open
    reply            // it does not arrive; the reply is `reply`, in RESP
};

struct fault {
    matcher matches;
    fault_kind kind = fault_kind::lose_reply;
    std::chrono::milliseconds delay{};
    std::string reply;
    std::size_t first_match = 1;  // of the commands that match from now on
    std::size_t times = 1;        // consecutive matches, from the first on
};

struct seen_command {
    command_words words;
    pawl::time_point arrived_at;  // at the proxy, so after it was sent
    std::size_t connection = 0;
};

// Runs in a thread of its own. Thread-safe.
class fault_proxy {
public:
    explicit fault_proxy(endpoint upstream);
    ~fault_proxy();
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    [[nodiscard]] std::string url(const std::string& more = {}) const;

    void inject(fault injected);
    // The number of faults applied so far.
    [[nodiscard]] std::size_t strike_count() const;
    // Removes all faults.
    void heal();

    void refuse(bool refused);  // new connections are refused; open ones stay open
    // New connections go to this server, as after a change in DNS; open ones stay where they are.
    void lead_to(endpoint upstream);
    void kill_connections();
    void freeze(bool frozen);  // nothing passes in either direction, everything stays open
    void drop_pushes(bool dropped);
    void delay(std::chrono::milliseconds requests, std::chrono::milliseconds replies);

    // The commands that came from clients, in order.
    [[nodiscard]] std::vector<seen_command> commands() const;
    [[nodiscard]] std::size_t count(const matcher& which) const;
    void forget_commands();
    [[nodiscard]] std::size_t connections_ever() const;
    [[nodiscard]] std::size_t connections_now() const;

private:
    class engine;
    std::unique_ptr<engine> engine_;
};

}  // namespace support
