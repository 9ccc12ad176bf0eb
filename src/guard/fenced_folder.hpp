// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps of a fenced write, without a file system.
#pragma once

#include <pawl/guard/fence_result.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::guard {

// The folder of a fenced file. The tests have another one, whose machine crashes between two steps
// and forgets whatever was not synced. Each function throws pawl::error if it fails.
class fenced_folder {
public:
    virtual ~fenced_folder() = default;
    // Nothing: there is no such file.
    [[nodiscard]] virtual std::optional<std::string> read(const std::string& name) = 0;
    // Makes a file, or replaces what a crash has left of it. Its mode is that of the file `like`.
    virtual void write(const std::string& name, std::string_view content,
                       const std::string& like) = 0;
    virtual void sync(const std::string& name) = 0;
    virtual void rename(const std::string& from, const std::string& to) = 0;
    // All renames so far are on the disk.
    virtual void sync_folder() = 0;
};

// The token of NAME.fence; empty without the file. Throws errc::bad_option for another content.
[[nodiscard]] fencing_token fence_of(fenced_folder& folder, const std::string& name);

// The caller has the lock of the file.
fence_result write_fenced(fenced_folder& folder, const std::string& name, std::string_view content,
                          fencing_token token);

}  // namespace pawl::guard
