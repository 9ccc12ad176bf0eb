// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A disk that the test fills, of another program: see full_disk_shim.c.
#pragma once

#include <support/temp_folder.hpp>

#include <string>
#include <utility>
#include <vector>

namespace support {

// Must outlive the programs that use it.
class full_disk {
public:
    full_disk();

    // For the program that writes to this disk. It has space at first.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
    // Whether no file of the program can grow.
    void set_full(bool is_full) const;

private:
    temp_folder folder_;
};

}  // namespace support
