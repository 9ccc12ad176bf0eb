// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "host.hpp"

#include <sqlite3.h>

#include <cstdlib>
#include <stdexcept>

namespace pawl::simulation {

void host_clock::reboot(duration uptime) {
    const auto before = now_;
    now_ = time_point(uptime);
    wall_offset_ += before - now_ + std::chrono::seconds(20);
}

other_program::other_program(const std::string& path) {
    if (::sqlite3_open(path.c_str(), &handle_) != SQLITE_OK)
        throw std::runtime_error(::sqlite3_errmsg(handle_));
}

other_program::~other_program() { ::sqlite3_close(handle_); }

void other_program::run(const std::string& sql) {
    if (::sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        throw std::runtime_error(sql + ": " + ::sqlite3_errmsg(handle_));
}

temporary_folder::temporary_folder() {
    namespace fs = std::filesystem;
    const fs::path in_memory = "/dev/shm";
    std::error_code none;
    const auto base = fs::is_directory(in_memory, none) ? in_memory : fs::temp_directory_path();
    auto name = (base / "pawl-simulation-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw std::runtime_error("cannot make a folder below " + base.string());
    path_ = name;
}

temporary_folder::~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace pawl::simulation
