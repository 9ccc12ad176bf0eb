// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A SQLite database in memory whose clock is the simulation's, and the simulation's time and chance
// for the protocol.
#pragma once

#if PAWL_WITH_SQLITE

#include "rewriting_connection.hpp"

#include <pawl/guard/schema.hpp>
#include <pawl/guard/sqlite.hpp>
#include <pawl/spi/runtime.hpp>

#include <sqlite3.h>

#include <memory>
#include <random>
#include <stdexcept>

namespace guard_tests {

// In ms since 1970. One simulation at a time.
inline std::int64_t simulated_ms = 0;

inline int simulated_clock(sqlite3_vfs*, sqlite3_int64* julian_ms) {
    constexpr std::int64_t epoch = 210866760000000;  // of SQLite's Julian days
    *julian_ms = epoch + simulated_ms;
    return SQLITE_OK;
}

class simulated_store {
public:
    explicit simulated_store(rewriting change = {}) : db_(open()), changed_(plain_, change) {
        simulated_ms = 1'800'000'000'000;
        pawl::guard::make_tables(plain_);
        plain_.execute({"CREATE TABLE effects(operation TEXT, attempt INTEGER)"});
    }

    // With the change, and without it.
    pawl::guard::connection& view() { return changed_; }
    pawl::guard::connection& truth() { return plain_; }
    [[nodiscard]] bool was_changed() const { return changed_.count() > 0; }

private:
    using handle = std::unique_ptr<sqlite3, decltype(&::sqlite3_close)>;

    static handle open() {
        static sqlite3_vfs clocked = [] {
            sqlite3_vfs made = *::sqlite3_vfs_find(nullptr);
            made.zName = "simulated clock";
            made.xCurrentTimeInt64 = &simulated_clock;
            return made;
        }();
        ::sqlite3_vfs_register(&clocked, 0);
        sqlite3* made = nullptr;
        if (::sqlite3_open_v2(":memory:", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                              clocked.zName) != SQLITE_OK)
            throw std::runtime_error("no database in memory");
        return {made, &::sqlite3_close};
    }

    handle db_;
    pawl::guard::sqlite_connection plain_{db_.get()};
    rewriting_connection changed_;
};

class simulated_runtime final : public pawl::spi::runtime {
public:
    explicit simulated_runtime(std::uint64_t seed) : generator_(seed) {}

    [[nodiscard]] pawl::time_point now() const noexcept override {
        return pawl::time_point(std::chrono::milliseconds(simulated_ms));
    }
    [[nodiscard]] std::chrono::system_clock::time_point wall_clock() const noexcept override {
        return std::chrono::system_clock::time_point(std::chrono::milliseconds(simulated_ms));
    }
    std::unique_ptr<pawl::spi::timer> make_timer(const boost::asio::any_io_executor&) override {
        throw std::logic_error("the protocol needs no timer");
    }
    void random(std::span<std::byte> bytes) override {
        for (auto& each : bytes)
            each = static_cast<std::byte>(generator_() & 0xff);
    }
    [[nodiscard]] bool is_real_time() const noexcept override { return false; }

    // Below `limit`.
    std::int64_t draw(std::int64_t limit) {
        return static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(limit));
    }
    bool one_in(std::int64_t count) { return draw(count) == 0; }

private:
    std::mt19937_64 generator_;
};

}  // namespace guard_tests

#endif
