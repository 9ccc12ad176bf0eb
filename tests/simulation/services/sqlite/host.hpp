// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The machine of a scenario: its clocks, its boot id and its SQLite file.
#pragma once

#include "../../kernel/prng.hpp"
#include "core/util/spi.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace pawl::simulation {

// Time stands still within a step. While another process keeps the file busy, each reading of the
// clock takes a second, because the store waits in real time and the wait must end soon.
class host_clock final : public runtime {
public:
    time_point now() const noexcept override {
        if (is_busy) now_ += std::chrono::seconds(1);
        return now_;
    }
    std::chrono::system_clock::time_point wall_clock() const noexcept override {
        return is_wall_stopped ? std::chrono::system_clock::time_point{} : true_wall();
    }
    [[nodiscard]] std::chrono::system_clock::time_point true_wall() const noexcept {
        const auto since_1970 = now_.time_since_epoch() + wall_offset_;
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(since_1970));
    }
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor&) override {
        return nullptr;  // steps use no timers
    }
    // Used only for the names of sockets, which must differ between processes.
    void random(std::span<std::byte> fill) override { real_runtime().random(fill); }
    bool is_real_time() const noexcept override { return false; }

    void pass(duration by) { now_ += by; }
    void move_wall(duration by) { wall_offset_ += by; }
    // The boot clock starts again; the wall clock continues.
    void reboot(duration uptime);

    bool is_busy = false;
    bool is_wall_stopped = false;  // for tokens_without_clock

private:
    mutable time_point now_{std::chrono::hours(1)};
    duration wall_offset_ = std::chrono::hours(24 * 365 * 56);
};

// Another program's connection to the file, which keeps the file busy, copies it or injects a bug.
class other_program {
public:
    explicit other_program(const std::string& path);
    ~other_program();
    other_program(const other_program&) = delete;
    other_program& operator=(const other_program&) = delete;
    // Throws std::runtime_error.
    void run(const std::string& sql);

private:
    sqlite3* handle_ = nullptr;
};

// The folder is in memory if the machine has such a folder, because there are many scenarios. It is
// removed at the end.
class temporary_folder {
public:
    temporary_folder();
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }

private:
    std::filesystem::path path_;
};

}  // namespace pawl::simulation
