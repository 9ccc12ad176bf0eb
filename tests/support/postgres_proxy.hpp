// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A proxy that reads PostgreSQL's protocol and injects faults. It offers no TLS.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace support {

// The effect of a fault on a request, which is all that a client sends up to a Sync.
enum class sql_fault_kind {
    lose_request,  // it never arrives; the connection is cut
    lose_sync,     // it arrives without its Sync, and nothing comes after it; both sides stay open
    lose_reply,    // it is carried out; the connection is cut before a byte of the reply
    cut_reply,     // half of the reply arrives, then the connection is cut
    delay_reply,   // the reply and everything behind it wait for `delay`
    swallow        // from then on nothing passes either way; the connection stays open
};

struct sql_fault {
    std::string text;  // in the SQL of the request, such as "acquire_1"
    sql_fault_kind kind = sql_fault_kind::lose_reply;
    std::chrono::milliseconds delay{};
    std::size_t times = 1;  // of the next requests with the text
};

// Runs in a thread of its own. Thread-safe.
class postgres_proxy {
public:
    explicit postgres_proxy(std::uint16_t server_port);
    ~postgres_proxy();
    postgres_proxy(const postgres_proxy&) = delete;
    postgres_proxy& operator=(const postgres_proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    [[nodiscard]] std::string url(const std::string& database, const std::string& more = {}) const;

    void inject(sql_fault injected);
    // The number of faults applied so far.
    [[nodiscard]] std::size_t strike_count() const;
    // Removes all faults.
    void heal();

    void kill_connections();
    void freeze(bool frozen);  // nothing passes in either direction, everything stays open

    // The requests so far with this text in their SQL.
    [[nodiscard]] std::size_t count(const std::string& text) const;

private:
    class engine;
    std::unique_ptr<engine> engine_;
};

}  // namespace support
