// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The files behind a connection: their rights, and whether the path still leads to them.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::sqlite {

// The path without symbolic links: SQLite keeps its log beside the target of a link. Throws
// errc::bad_option for a link to a missing file.
[[nodiscard]] std::string path_without_links(const std::string& path);

// Throws errc::refused unless `given` and its `path` without links lead to the same file, or, if
// neither exists, to the same folder. The text of a link in /proc, such as /proc/PID/root, names a
// path of another mount namespace.
void expect_same_target(const std::string& given, const std::string& path);

// Makes a missing file, which only its owner may read; with `make_folder`, also its folder, for the
// owner alone. Throws errc::bad_option, errc::refused or, if the disk is full, database_error.
void prepare_file(const std::string& path, bool make_folder);

// True if the text of /proc/self/mountinfo has a mount at exactly this path.
[[nodiscard]] bool is_mount_point(std::istream& mountinfo, std::string_view path);

// The database, its write-ahead log and the index of the log, as a connection has opened them.
class file_identity {
public:
    // linked, mounted: the file has a second name, by a hard link or a mount of the file alone.
    // SQLite would keep another log for that name, and two programs could hold one lock.
    enum class state : std::uint8_t { same, replaced, linked, mounted };

    // `path` is the target of `given`.
    file_identity(std::string given, std::string path);

    [[nodiscard]] state current_state() const;
    // The index of the log, which every connection maps.
    [[nodiscard]] const std::pair<dev_t, ino_t>& index() const noexcept { return files_[2]; }
    // Throws errc::refused if the file has a second name.
    void refuse_second_name(state state_seen) const;

private:
    using file_number = std::pair<dev_t, ino_t>;
    struct file_view {
        std::array<file_number, 3> files{};
        bool linked = false;
        bool mounted = false;
    };

    [[nodiscard]] file_view read() const;

    std::string given_, path_;
    std::array<file_number, 3> files_;
};

// Whether users other than the owner can open the file, or replace it.
struct file_rights {
    mode_t file = 0;
    mode_t folder = 0;
    [[nodiscard]] bool others_may_open() const noexcept;
    [[nodiscard]] bool others_may_replace() const noexcept;
};
[[nodiscard]] file_rights rights_of(const std::string& path);

}  // namespace pawl::sqlite
