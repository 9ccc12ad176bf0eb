// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How the command fails: one sentence on stderr, and an exit status for the kind of failure.
// docs/guide/cli.md has the table for users.
#pragma once

#include <pawl/error.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace pawl::cli {

// The numbers of sysexits.h if one fits.
enum class exit_code : int {
    ok = 0,
    no = 1,            // no holder, not confirmed, or doctor found a serious problem
    usage = 64,        // the command line, a name, an option or the URL is not valid
    wrong_data = 65,   // the key holds data that is not a lock
    no_input = 66,     // a file with the URL, or a configuration file, cannot be read
    unreachable = 69,  // the service cannot be reached, or cannot serve any client now
    lost = 70,         // the lock was lost, and the command was stopped in time
    system = 71,       // this host refused a process, memory or a file
    outlived = 73,     // the lock was lost, and the command was stopped too late or not at all
    timed_out = 75,    // the lock was not free within the given time
    no_set = 76,       // the nodes of Redlock form no set with this URL: an operator must act
    refused = 77,      // the service refuses access: password, permission
    config = 78,       // a configuration file is invalid, or requires a URL and no source names one
    not_executable = 126,
    not_found = 127
};

// The exit status of a process that a signal ended, as shells report it.
[[nodiscard]] constexpr int signal_status(int signal) noexcept { return 128 + signal; }

class failure : public std::runtime_error {
public:
    failure(exit_code code, const std::string& sentence)
        : std::runtime_error(sentence), code_(code) {}
    [[nodiscard]] exit_code code() const noexcept { return code_; }

private:
    exit_code code_;
};

// A failed system call. Adds the text of errno.
[[nodiscard]] failure system_failure(const std::string& context);

[[nodiscard]] exit_code code_for(errc reason) noexcept;

// Prints "pawl: SENTENCE" on stderr, in the words of the command line, in one line and one write.
// messages.hpp describes the case of a reader that does not read.
void say(std::string_view sentence) noexcept;

// To be called in a catch block: prints the error and returns the exit status.
[[nodiscard]] int report_current() noexcept;

}  // namespace pawl::cli
