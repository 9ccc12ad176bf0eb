// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a database does without Pawl: the statements that other libraries send, or the fewest that
// make a lock. One object has its own connections, and is used by one thread.
#pragma once

#include <memory>
#include <string>

namespace baselines {

class baseline {
public:
    virtual ~baseline() = default;

    virtual void acquire() = 0;
    virtual void release() = 0;
    // Passes the lock, or a message, to another connection. Returns the time in µs from the request
    // until the other connection has it.
    virtual double hand_over() = 0;
    // Connections that listen for messages and get those of `hand_over`, too.
    virtual void add_listeners(int count) = 0;
};

// Kinds: plain, advisory, shedlock; in PostgreSQL also notify and durable_notify, which have no
// pairs. `place`: a connection string of libpq, or the port of a MariaDB server. Throws
// std::runtime_error.
[[nodiscard]] std::unique_ptr<baseline> make_postgres(const std::string& kind,
                                                      const std::string& place);
[[nodiscard]] std::unique_ptr<baseline> make_mariadb(const std::string& kind,
                                                     const std::string& place);

}  // namespace baselines
