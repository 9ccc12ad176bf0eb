// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The data folders of private database servers.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <sys/types.h>

namespace support {

// Where to make them: in memory, if there is enough. They are many files, which a busy disk is slow
// to write and to delete.
[[nodiscard]] std::filesystem::path parent_of_data();

// A folder to copy, which `make` makes the first time: at a path below a folder of the user that
// runs servers. Of two test programs one makes it, and the other one waits.
[[nodiscard]] std::filesystem::path folder_made_once(
    const std::string& path, const std::function<void(const std::filesystem::path&)>& make);

// Copies such a folder for the user that runs servers.
void copy_for_server_user(const std::filesystem::path& from, const std::filesystem::path& to);

// The number in the file's first line, where a server writes its process id; 0 without one. Another
// server may answer at the port of one that does not start.
[[nodiscard]] pid_t process_in(const std::filesystem::path& file);

}  // namespace support
