// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "process_figures.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <unistd.h>

namespace real {

std::optional<process_figures> figures_of(pid_t process) {
    const auto folder = "/proc/" + std::to_string(process);
    std::ifstream statistics(folder + "/statm");
    std::size_t size = 0, resident = 0;  // in pages
    if (!(statistics >> size >> resident)) return std::nullopt;
    std::error_code gone;
    const std::filesystem::directory_iterator open_files(folder + "/fd", gone);
    if (gone) return std::nullopt;
    return process_figures{
        .resident_bytes = resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)),
        .descriptors = static_cast<std::size_t>(std::distance(begin(open_files), end(open_files)))};
}

}  // namespace real
