// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "full_disk.hpp"

#include <filesystem>
#include <fstream>

namespace support {

// Some servers run as another user, who may not read the folder of the build.
full_disk::full_disk() {
    namespace fs = std::filesystem;
    fs::copy_file(PAWL_FULL_DISK_SHIM, folder_.file("disk.so"));
    std::ofstream(folder_.file("full")) << '\0';
    for (const auto* each : {"", "full", "disk.so"})
        fs::permissions(folder_.file(each), fs::perms::others_read | fs::perms::others_exec,
                        fs::perm_options::add);
}

std::vector<std::pair<std::string, std::string>> full_disk::environment() const {
    return {{"LD_PRELOAD", folder_.file("disk.so")}, {"PAWL_DISK_FILE", folder_.file("full")}};
}

// In place: the programs have mapped the file.
void full_disk::set_full(bool is_full) const {
    std::fstream file(folder_.file("full"), std::ios::in | std::ios::out);
    file.put(is_full ? '\1' : '\0');
}

}  // namespace support
