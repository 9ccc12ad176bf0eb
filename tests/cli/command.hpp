// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command `pawl`, started the way a shell starts it.
#pragma once

#include <support/eventually.hpp>
#include <support/temp_folder.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cli_test {

using words = std::vector<std::string>;
using variables = std::map<std::string, std::string>;

struct outcome {
    int code = -1;  // -1 if a signal ended it
    int signal = 0;
    std::string out;
    std::string err;
};

// A started process with stdin from /dev/null, and stdout and stderr in files, in its own process
// group. The destructor kills the group and reaps the process.
class started_process {
public:
    started_process(const words& program, const variables& environment, int input_file = -1);
    started_process(const started_process&) = delete;
    started_process& operator=(const started_process&) = delete;
    ~started_process();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] std::string out() const;
    [[nodiscard]] std::string err() const;
    void signal(int number) const;
    // Waits until the process waits for events. Throws if it does not.
    void wait_until_asleep() const;
    // Sends SIGKILL to a `pawl` that has started its command, once it sleeps. Before, it may not
    // have noted yet where the command runs.
    void kill_supervisor() const;
    // Throws if the process still runs after `bound`.
    outcome wait(std::chrono::seconds bound = std::chrono::seconds(30));
    [[nodiscard]] bool is_running();

private:
    support::temp_folder folder_;
    pid_t pid_ = -1;
    std::optional<int> status_;
};

// A service and an environment for the command. By default the SQLite file of an empty home folder,
// named in PAWL_URL. The host's configuration file is not used.
class test_sandbox {
public:
    test_sandbox() : test_sandbox("") {}
    explicit test_sandbox(const std::string& url);

    [[nodiscard]] std::unique_ptr<started_process> start(const words& arguments,
                                                         const variables& more = {}) const;
    [[nodiscard]] outcome run(const words& arguments, const variables& more = {}) const;
    [[nodiscard]] const variables& environment() const noexcept { return environment_; }
    [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

    // Whether the lock has a holder.
    [[nodiscard]] bool is_held(const std::string& name) const;
    // Waits until the lock has a holder.
    [[nodiscard]] bool eventually_held(const std::string& name) const;

private:
    support::temp_folder folder_;
    variables environment_;
};

[[nodiscard]] std::string read_file(const std::string& path);
// Evaluates the Python `expression` with the parsed text as `it`, and returns what it prints.
// Throws if the text is not JSON.
[[nodiscard]] std::string from_json(const std::string& text, const std::string& expression);

// This program as a child process that writes heartbeats: see main.cpp.
[[nodiscard]] words heartbeat(const std::string& file, const std::string& mode = "");
// CLOCK_BOOTTIME of the newest heartbeat in ns; 0 before the first.
[[nodiscard]] std::int64_t last_beat(const std::string& file);
[[nodiscard]] std::int64_t boot_time();
constexpr std::int64_t second = 1'000'000'000;  // of boot_time()
[[nodiscard]] bool is_beating(const std::string& file);
// Waits until no process writes to the file any more.
[[nodiscard]] bool eventually_silent(const std::string& file);

// Appends `right`.
[[nodiscard]] words operator+(words left, const words& right);

// A living child of `parent` with this name, or 0.
[[nodiscard]] pid_t child_named(pid_t parent, const std::string& name);
[[nodiscard]] bool is_alive(pid_t process);
// Whether a signal has stopped the process.
[[nodiscard]] bool is_stopped(pid_t process);

}  // namespace cli_test
