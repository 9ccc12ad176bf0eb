// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A host that runs `pawl cron`.
#pragma once

#include "command.hpp"

#include <support/moved_clock.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

namespace cli_test {

// A process with a clock of its own, and the processes of its ticks.
class fleet_host {
public:
    fleet_host(const test_sandbox& sandbox, words arguments, std::chrono::milliseconds ahead)
        : sandbox_(sandbox), arguments_(std::move(arguments)) {
        clock_.step(ahead);
        start();
    }

    void restart() {
        stop();
        EXPECT_EQ(process_->wait(std::chrono::seconds(120)).code, 0) << process_->err();
        messages_ += process_->err();
        start();
    }
    // Also the supervisors of its commands, but neither locks nor commands.
    void signal_all(int number) const {
        process_->signal(number);
        std::ifstream children("/proc/" + std::to_string(process_->pid()) + "/task/" +
                               std::to_string(process_->pid()) + "/children");
        for (pid_t child = 0; children >> child;)
            ::kill(child, number);
    }
    // A process that has just begun would be killed.
    void stop() {
        EXPECT_TRUE(support::eventually([this] { return reads_signals(); }));
        process_->signal(SIGTERM);
    }
    outcome wait() {
        auto result = process_->wait(std::chrono::seconds(120));
        messages_ += result.err;
        return result;
    }
    // Of all processes that have ended.
    [[nodiscard]] const std::string& messages() const noexcept { return messages_; }

private:
    // It has blocked them, and reads them one after the other.
    [[nodiscard]] bool reads_signals() const {
        std::ifstream status("/proc/" + std::to_string(process_->pid()) + "/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("SigBlk:"))
                return (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1U) != 0;
        return false;
    }
    void start() {
        variables environment;
        for (const auto& [name, value] : clock_.environment())
            environment[name] = value;
        process_ = sandbox_.start(arguments_, environment);
    }

    const test_sandbox& sandbox_;
    words arguments_;
    support::moved_clock clock_;
    std::unique_ptr<started_process> process_;
    std::string messages_;
};

// How often each line is in the file.
inline std::map<std::string, int> count_lines(const std::string& path) {
    std::istringstream text(read_file(path));
    std::map<std::string, int> counts;
    for (std::string line; std::getline(text, line);)
        ++counts[line];
    return counts;
}

}  // namespace cli_test
