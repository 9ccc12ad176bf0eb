// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A database of SQLite in memory whose clock the test sets.
#pragma once

#include <pawl/guard/sqlite.hpp>
#include <pawl/guard/tick_records.hpp>

#include <gtest/gtest.h>

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace guard_tests {

// Threads may share it if they use `advance` only, and set nothing else.
class timed_database final : public pawl::guard::connection {
public:
    static constexpr std::chrono::sys_seconds start =
        std::chrono::sys_days(std::chrono::year(2026) / 6 / 1);

    timed_database() {
        sqlite3* opened = nullptr;
        EXPECT_EQ(::sqlite3_open(":memory:", &opened), SQLITE_OK);
        handle_.reset(opened);
        view_.emplace(opened);
    }

    pawl::guard::rows execute(const pawl::guard::statement& to_run) override {
        // A copy: it may replace itself.
        if (const auto hook = interleave) hook(to_run.text);
        static const std::string clock =
            "CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)";
        const std::scoped_lock guard(mutex_);
        if (is_broken) throw pawl::guard::database_error("The database is away.", {}, true);
        auto text = to_run;
        const auto us = std::to_string(now.time_since_epoch().count());
        for (const auto& [from, to] : {std::pair(clock, us), injected_bug})
            for (auto at = text.text.find(from); !from.empty() && at != std::string::npos;
                 at = text.text.find(from, at + to.size()))
                text.text.replace(at, from.size(), to);
        return view_->execute(text);
    }
    [[nodiscard]] pawl::guard::dialect dialect() const noexcept override {
        return pawl::guard::dialect::sqlite;
    }
    [[nodiscard]] bool in_transaction() const noexcept override { return false; }

    void advance(std::chrono::microseconds time) {
        const std::scoped_lock guard(mutex_);
        now += time;
    }

    pawl::guard::store_time now = start;
    std::atomic<bool> is_broken = false;
    std::pair<std::string, std::string> injected_bug;
    std::function<void(const std::string&)> interleave;  // before each statement

private:
    std::mutex mutex_;
    std::unique_ptr<sqlite3, decltype(&::sqlite3_close)> handle_{nullptr, &::sqlite3_close};
    std::optional<pawl::guard::sqlite_connection> view_;
};

}  // namespace guard_tests
