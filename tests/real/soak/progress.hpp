// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The figures of a soak over time: a line each minute, and the material of the drawing.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace real::soak {

using milliseconds = std::chrono::milliseconds;

struct sample {
    milliseconds at{};          // since the begin of the soak
    std::string environment{};  // that runs now
    std::size_t round = 1;      // of this environment
    std::size_t holds = 0;      // so far, of all environments; so are the other counts
    std::size_t holds_per_minute = 0;
    std::size_t losses = 0;  // that were reported
    std::size_t faults = 0;
    std::size_t kills = 0;
    std::size_t pauses = 0;
    // Of the rounds that were checked.
    std::size_t equal_tokens = 0, tokens_back = 0, overlaps = 0;
    std::size_t refused = 0;  // by the resources
    std::size_t errors = 0;   // of acquires
    // Of the client that uses most, among those that are never killed.
    std::size_t client_bytes = 0, descriptors = 0;
    std::size_t server_bytes = 0;  // of all servers together
};

struct fault_mark {
    milliseconds at{};
    std::string name;
};

class progress {
public:
    explicit progress(std::ostream& output) : output_(output) {}

    [[nodiscard]] milliseconds time() const;
    // Prints the titles of the columns.
    void begin_environment(const std::string& name, const std::string& description);
    // Prints a line. Computes `at` and `holds_per_minute`.
    void add(sample next);
    void mark_fault(const std::string& name) { faults_.push_back({time(), name}); }

    [[nodiscard]] const std::vector<sample>& samples() const noexcept { return samples_; }
    [[nodiscard]] const std::vector<fault_mark>& faults() const noexcept { return faults_; }

private:
    std::ostream& output_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::vector<sample> samples_;
    std::vector<fault_mark> faults_;
    // Since the last line, or since the begin of the environment.
    milliseconds counted_until_{};
    std::size_t holds_until_ = 0;
};

// "1:02:03"
[[nodiscard]] std::string to_text(milliseconds time);

}  // namespace real::soak
