// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "file_use.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace pawl::simulation {
namespace {

// SQLite tells of each connection that this thread's program opens and closes.
thread_local host_program* present_user = nullptr;

int on_close(unsigned, void* context, void* closed, void*) {
    auto& program = *static_cast<host_program*>(context);
    if (program.connection == closed) program.connection = nullptr;
    return 0;
}

int on_open(sqlite3* opened, const char**, const struct sqlite3_api_routines*) {
    if (present_user == nullptr) return SQLITE_OK;
    present_user->connection = opened;
    ++present_user->connection_number;
    return ::sqlite3_trace_v2(opened, SQLITE_TRACE_CLOSE, on_close, present_user);
}

using row_reader = std::function<void(char** columns)>;

// Reads nothing while there are no tables.
void read_rows(sqlite3* connection, const std::string& sql, const row_reader& read) {
    const auto call = [](void* context, int, char** columns, char**) {
        (*static_cast<const row_reader*>(context))(columns);
        return 0;
    };
    ::sqlite3_exec(connection, sql.c_str(), call, const_cast<row_reader*>(&read), nullptr);
}

}  // namespace

file_use::file_use(host_program& program) : program_(program) {
    [[maybe_unused]] static const int is_watching =
        ::sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_open));
    program_.machine.inject_bug(program_);
    connection_number_ = program_.connection_number;
    before_ = read();
    present_user = &program_;
    program_.clock->begin_use(program_.machine.is_busy());
}

file_use::~file_use() {
    present_user = nullptr;
    program_.clock->end_use();
    if (program_.connection_number == connection_number_) {
        check_queue(read());
    } else if (std::exchange(program_.is_unaware, false)) {
        program_.has_noticed_at = program_.machine.loop().now();
        program_.machine.note_calm();
    }
}

file_use::rows file_use::read() const {
    rows present;
    auto* const connection = program_.connection;
    // The rows of a file that was replaced mean nothing.
    if (connection == nullptr || program_.is_unaware || program_.machine.is_busy()) return present;
    const auto now = std::to_string(program_.process.now().time_since_epoch().count());
    read_rows(
        connection,
        "SELECT seq, name, owner, client, expires > " + now + " AND set_at <= " + now +
            " FROM waiters ORDER BY seq",
        [&](char** columns) {
            const bool is_live =
                program_.machine.has_client(columns[3]) && columns[4] == std::string("1");
            present.waiters.push_back({std::stoll(columns[0]), columns[1], columns[2], is_live});
        });
    read_rows(connection, "SELECT name, owner FROM holders",
              [&](char** columns) { present.holders.emplace(columns[0], columns[1]); });
    return present;
}

// No later request passes a live waiter that stays in the queue.
void file_use::check_queue(const rows& after) const {
    for (const auto& [name, owner] : after.holders) {
        if (before_.holders.contains({name, owner})) continue;
        for (const auto& each : before_.waiters) {
            if (each.owner == owner) break;
            const bool stays = std::ranges::count(after.waiters, each.owner, &waiter::owner) > 0;
            if (each.name == name && each.is_live && stays)
                program_.machine.violation_ = owner + " passed " + each.owner + " in the queue";
        }
    }
}

}  // namespace pawl::simulation
