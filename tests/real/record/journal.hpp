// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of a process. Each line goes to the file in one write, so it survives a SIGKILL of
// its writer the moment after.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>
#include <sstream>
#include <string>

namespace real {

// The time of all records: ns of the boot clock, which all processes of a machine share.
using instant = std::int64_t;

[[nodiscard]] inline instant to_instant(pawl::time_point when) {
    return when.time_since_epoch().count();
}
[[nodiscard]] inline instant now() { return to_instant(pawl::boot_clock::now()); }

// An append-only file, shared by the threads of a process.
class journal {
public:
    explicit journal(const std::string& path);
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;
    ~journal();

    void write(const std::string& line) const;
    // "VERB FIELD FIELD …"; `read_records` has the verbs.
    template <class... Fields>
    void note(const char* verb, const Fields&... fields) const {
        std::ostringstream line;
        line << verb;
        ((line << ' ' << fields), ...);
        write(line.str());
    }

private:
    int file_;
};

}  // namespace real
