// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The databases that ShedLock and Pawl share, each with a time zone of its own.
#pragma once

#include <conformance/process.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace interop {

// Not thread-safe. The table is ShedLock's, as its manual makes it, with the column fence.
class shared_database {
public:
    virtual ~shared_database() = default;
    // Pawl's; `more` begins with '&'.
    [[nodiscard]] virtual std::string url(const std::string& more = {}) const = 0;
    [[nodiscard]] virtual std::string jdbc_url() const = 0;
    [[nodiscard]] virtual std::string value(const std::string& query) const = 0;
    // The database's time in UTC, as SQL.
    [[nodiscard]] virtual std::string now() const = 0;
    // SQL for `time` and so many seconds.
    [[nodiscard]] virtual std::string plus(const std::string& time, int seconds) const = 0;

    // A column of the lock's row, as text.
    [[nodiscard]] std::string column(const std::string& column, const std::string& name) const {
        return value("SELECT " + column + " FROM shedlock WHERE name = '" + name + "'");
    }
    [[nodiscard]] bool holds(const std::string& condition, const std::string& name) const {
        return value("SELECT COUNT(*) FROM shedlock WHERE name = '" + name + "' AND " +
                     condition) == "1";
    }
};

// Of each kind one server for the program. "Postgres" or "MariaDb"; each call makes an empty table.
[[nodiscard]] std::unique_ptr<shared_database> make_database(const std::string& kind);

// A Java process with ShedLock, for one command at a time: see ShedLockPeer.java.
class java_process {
public:
    explicit java_process(const shared_database& database);

    void send(const std::string& command) { process_.send(command); }
    std::string read_reply(std::chrono::milliseconds bound = std::chrono::minutes(5));
    std::string execute(const std::string& command) {
        send(command);
        return read_reply();
    }
    void kill9() { process_.kill_and_reap(); }

private:
    pawl::conformance::child process_;
};

}  // namespace interop
