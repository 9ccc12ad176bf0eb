// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A test's lock file, and the tools to read and break it.
#pragma once

#include "backend_runner.hpp"
#include "support/temp_folder.hpp"

#include <pawl/sqlite.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

namespace backend_tests {

// ctest counts a test that prints this as skipped.
inline void report_not_run(const std::string& why) { std::cout << "NOT RUN: " << why << std::endl; }

class lock_file_fixture {
public:
    [[nodiscard]] pawl::service service() const { return pawl::sqlite::at({.path = path()}); }
    [[nodiscard]] std::string path() const { return folder_.file("locks.db"); }
    [[nodiscard]] const support::temp_folder& folder() const noexcept { return folder_; }

private:
    support::temp_folder folder_;
};

// Another program's connection to the same file.
class sqlite_connection {
public:
    explicit sqlite_connection(const std::string& path) {
        if (::sqlite3_open(path.c_str(), &handle_) != SQLITE_OK)
            throw std::runtime_error(::sqlite3_errmsg(handle_));
        ::sqlite3_busy_timeout(handle_, 5000);
    }
    ~sqlite_connection() { ::sqlite3_close(handle_); }
    sqlite_connection(const sqlite_connection&) = delete;
    sqlite_connection& operator=(const sqlite_connection&) = delete;

    void run(const std::string& sql) { text(sql); }
    // The first column of the first row.
    std::string text(const std::string& sql) {
        std::optional<std::string> first;
        const auto keep = [](void* result, int, char** values, char**) {
            auto& value = *static_cast<std::optional<std::string>*>(result);
            if (!value) value = values[0] == nullptr ? "" : values[0];
            return 0;
        };
        char* failed = nullptr;
        if (::sqlite3_exec(handle_, sql.c_str(), keep, &first, &failed) != SQLITE_OK) {
            const std::string sentence = failed == nullptr ? "" : failed;
            ::sqlite3_free(failed);
            throw std::runtime_error(sentence);
        }
        return first.value_or("");
    }

private:
    sqlite3* handle_ = nullptr;
};

// The pawl::error that the call throws.
template <class Call>
std::optional<pawl::error> failure_of(Call call) {
    try {
        call();
    } catch (const pawl::error& failed) {
        return failed;
    }
    return std::nullopt;
}

// An error of that kind, of one sentence that contains `part`.
inline testing::AssertionResult has_message(const std::optional<pawl::error>& failed,
                                            pawl::errc kind, const std::string& part) {
    if (!failed) return testing::AssertionFailure() << "no error";
    const std::string sentence = failed->what();
    if (failed->reason() != kind)
        return testing::AssertionFailure()
               << pawl::make_error_code(failed->reason()).message() << ": " << sentence;
    if (sentence.find(part) == std::string::npos || sentence.back() != '.' ||
        sentence.find('\n') != std::string::npos)
        return testing::AssertionFailure() << sentence;
    return testing::AssertionSuccess();
}

// The error of a client that acquires and releases a lock in this file.
inline std::optional<pawl::error> try_to_use(const std::string& path) {
    return failure_of([&] {
        backend_runner holder(pawl::sqlite::at({.path = path}));
        (void)holder.release(holder.acquire_hold("it"));
    });
}

// Runs `body` in a forked child, which may give up privileges for good. Returns its exit status; -1
// if a signal ended it.
template <class Body>
int run_in_child(Body body) {
    const auto child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace backend_tests
