// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Checks of the file's path: it must be on a disk of this host.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::sqlite {

// The name of a network file system, or one that is shared otherwise, with this magic number of
// statfs(2). File locks and shared memory do not work between hosts there. Empty for all others.
[[nodiscard]] std::string_view shared_file_system(unsigned long magic) noexcept;
// "ext4", "tmpfs", …; the number in hex if it is unknown.
[[nodiscard]] std::string file_system_name(unsigned long magic);

// The magic number for the file, or for the nearest folder above it that exists.
[[nodiscard]] unsigned long file_system_of(const std::string& path);

// Throws errc::refused, with the name of the file system, if it is a shared one.
void refuse_shared(const std::string& path, unsigned long magic);

// The absolute path. Throws errc::bad_option for text that SQLite would not take as a file, and
// errc::refused if the path cannot be resolved, or leads to another file than its text.
[[nodiscard]] std::string checked_path(const std::string& path);

// Identifies this boot of the host: instants of another boot are meaningless. Throws
// errc::unsupported if this process's boot clock is not the host's.
[[nodiscard]] std::string current_boot_id();

// Exists while a connection to the file is open. A forked process shares SQLite's record of the
// file's locks, and would damage the file: there the constructor throws errc::unsupported.
class open_mark {
public:
    using file_number = std::pair<dev_t, ino_t>;

    // The file must exist. `recheck_files` schedules a check of the files; any thread may call it.
    open_mark(const std::string& path, std::function<void()> recheck_files);
    ~open_mark();
    open_mark(const open_mark&) = delete;
    open_mark& operator=(const open_mark&) = delete;

    // All connections of a process share the index of the log (-shm) that the first one opened.
    // False: another index is at the path by now.
    [[nodiscard]] bool shares_index(const file_number& index_at_path);
    // Makes the other connections of this process check whether their files were replaced.
    void warn_others();

private:
    file_number file_;
    std::function<void()> recheck_files_;
};

}  // namespace pawl::sqlite
