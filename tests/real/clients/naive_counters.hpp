// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tokens that a program would make of independent servers without a protocol for them: each
// server counts, and the largest answer of a majority is the token.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace real {

class naive_counters {
public:
    // The Unix sockets of the servers.
    explicit naive_counters(const std::vector<std::string>& sockets);
    ~naive_counters();
    naive_counters(const naive_counters&) = delete;
    naive_counters& operator=(const naive_counters&) = delete;

    // For one more hold of this lock; thread-safe. All servers are asked to count. Empty if no
    // majority answers within half a second.
    [[nodiscard]] std::optional<std::uint64_t> next(const std::string& lock);

private:
    struct round;
    class server;

    std::vector<std::unique_ptr<server>> servers_;
};

}  // namespace real
