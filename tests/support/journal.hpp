// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of a process. Each line goes to the file in one write, so it survives a SIGKILL of
// its writer the moment after.
#pragma once

#include <string>

namespace support {

// An append-only file, shared by the threads of a process.
class journal {
public:
    explicit journal(const std::string& path);
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;
    ~journal();

    void write(const std::string& line) const;

private:
    int file_;
};

}  // namespace support
