// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_data.hpp"

#include "server_user.hpp"
#include "temp_folder.hpp"

#include <cstdint>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace support {
namespace {

namespace fs = std::filesystem;

class file_lock {
public:
    explicit file_lock(const std::string& path)
        : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX) != 0)
            throw std::runtime_error("cannot lock " + path);
    }
    file_lock(const file_lock&) = delete;
    file_lock& operator=(const file_lock&) = delete;
    ~file_lock() { ::close(descriptor_); }

private:
    int descriptor_;
};

}  // namespace

fs::path parent_of_data() {
    constexpr std::uintmax_t plenty = std::uintmax_t{2} << 30;
    const fs::path in_memory = "/dev/shm";
    std::error_code none;
    const auto space = fs::space(in_memory, none);
    return !none && space.available >= plenty ? in_memory : fs::temp_directory_path();
}

fs::path folder_made_once(const std::string& path,
                          const std::function<void(const fs::path&)>& make) {
    const file_lock lock(path + ".lock");
    if (fs::exists(path)) return path;
    const temp_folder folder(parent_of_data());
    give_to_server_user(folder.path());
    const fs::path data = folder.file("data");
    make(data);
    const fs::path unfinished = path + ".unfinished";
    fs::remove_all(unfinished);
    fs::copy(data, unfinished, fs::copy_options::recursive);
    fs::rename(unfinished, path);
    return path;
}

void copy_for_server_user(const fs::path& from, const fs::path& to) {
    fs::copy(from, to, fs::copy_options::recursive);
    fs::permissions(to, fs::perms::owner_all);
    give_to_server_user(to);
}

pid_t process_in(const fs::path& file) {
    pid_t process = 0;
    std::ifstream(file) >> process;
    return process;
}

}  // namespace support
