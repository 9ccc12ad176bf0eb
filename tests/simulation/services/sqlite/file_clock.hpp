// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The time of a program that uses a SQLite file.
#pragma once

#include "core/util/spi.hpp"

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <utility>

namespace pawl::simulation {

// Time stands still within a transaction. But while another process keeps the file busy, each
// reading of the clock takes a second, because the store then waits in real time.
class file_clock final : public runtime {
public:
    using wall_reader = std::function<std::chrono::system_clock::time_point()>;

    file_clock(runtime& of_program, wall_reader read_wall)
        : program_(of_program), read_wall_(std::move(read_wall)) {}

    time_point now() const noexcept override {
        if (is_waiting_) waited_ += std::chrono::seconds(1);
        return program_.now() + waited_;
    }
    std::chrono::system_clock::time_point wall_clock() const noexcept override {
        return read_wall_();
    }
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor& executor) override {
        return program_.make_timer(executor);
    }
    void random(std::span<std::byte> fill) override { program_.random(fill); }
    bool is_real_time() const noexcept override { return false; }
    void notify_losses(std::list<std::stop_source> sources) noexcept override {
        program_.notify_losses(std::move(sources));
    }

    void begin_use(bool is_busy) noexcept { is_waiting_ = is_busy; }
    // Returns how long the store has waited for the file.
    duration end_use() noexcept {
        is_waiting_ = false;
        return std::exchange(waited_, duration());
    }

private:
    runtime& program_;
    const wall_reader read_wall_;
    mutable duration waited_{};
    bool is_waiting_ = false;
};

}  // namespace pawl::simulation
