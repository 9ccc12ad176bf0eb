// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A new terminal for one process, with its input and output.
#pragma once

#include "command.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>

namespace cli_test {

// A process that leads a session on a new terminal.
class terminal_process {
public:
    terminal_process(const test_sandbox& sandbox, const words& program,
                     const variables& more = {}) {
        auto texts = program;
        std::vector<char*> arguments;
        for (auto& each : texts)
            arguments.push_back(each.data());
        arguments.push_back(nullptr);
        std::vector<std::string> lines;
        auto settings = sandbox.environment();
        for (const auto& [name, value] : more)
            settings[name] = value;
        for (const auto& [name, value] : settings)
            lines.push_back(name + "=" + value);
        std::vector<char*> environment;
        for (auto& each : lines)
            environment.push_back(each.data());
        environment.push_back(nullptr);
        const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
        pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
        if (pid_ == 0) {
            ::execvpe(arguments[0], arguments.data(), environment.data());
            ::_exit(127);
        }
        ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
    }
    terminal_process(const terminal_process&) = delete;
    terminal_process& operator=(const terminal_process&) = delete;
    ~terminal_process() {
        if (!ended_) ::kill(pid_, SIGKILL);
        ::close(terminal_);
        if (!ended_) ::waitpid(pid_, nullptr, 0);
    }

    void type(const std::string& keys) const {
        ASSERT_EQ(::write(terminal_, keys.data(), keys.size()), ssize_t(keys.size()));
    }
    // Waits for `text` after the position of the previous call.
    bool eventually_shows(const std::string& text) {
        return support::eventually([&] {
            read();
            const auto position = seen_.find(text, search_from_);
            if (position != std::string::npos) search_from_ = position + text.size();
            return position != std::string::npos;
        });
    }
    std::string all_output() {
        read();
        return seen_;
    }
    int wait() {
        int status = 0;
        ended_ = support::eventually([&] {
            read();
            return ::waitpid(pid_, &status, WNOHANG) == pid_;
        });
        return ended_ ? status : -1;
    }
    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] pid_t foreground() const { return ::tcgetpgrp(terminal_); }

private:
    void read() {
        std::array<char, 4096> part{};
        for (ssize_t size = 0; (size = ::read(terminal_, part.data(), part.size())) > 0;) {
            seen_.append(part.data(), static_cast<std::size_t>(size));
        }
    }

    pid_t pid_ = -1;
    int terminal_ = -1;
    bool ended_ = false;
    std::string seen_;
    std::size_t search_from_ = 0;
};

}  // namespace cli_test
