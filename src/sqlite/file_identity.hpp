// The files behind a connection: their place and rights, and whether the path still leads to them.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::sqlite {

// The path without symbolic links: SQLite keeps its log beside the file that they lead to. Throws
// errc::bad_option for a link to nothing.
[[nodiscard]] std::string path_without_links(const std::string& path);

// Throws errc::refused unless `given` and its `path` without links lead to the same file, or, where
// neither is there, to the same folder. The text of a link of /proc, such as /proc/PID/root, names
// a path of another mount namespace.
void expect_same_place(const std::string& given, const std::string& path);

// Makes the file, which only its owner may read, when it is missing; and its folder where
// `make_folder`, also for the owner alone. Throws errc::bad_option, errc::refused
// or, where the disk is full, database_error.
void prepare_file(const std::string& path, bool make_folder);

// Whether the text of /proc/self/mountinfo has a mount at exactly this path.
[[nodiscard]] bool is_mount_point(std::istream& mountinfo, std::string_view path);

// The database, its write-ahead log and the index of the log, as a connection has them open.
class file_identity {
public:
    // linked, mounted: the file has a second name, by a hard link or a mount of the file alone.
    // SQLite would keep another log for that name, and two programs could hold one lock.
    enum class state : std::uint8_t { same, replaced, linked, mounted };

    // `path` is where `given` leads to.
    file_identity(std::string given, std::string path);

    [[nodiscard]] state look() const;
    // The index of the log, which every connection maps.
    [[nodiscard]] const std::pair<dev_t, ino_t>& index() const noexcept { return files_[2]; }
    // Throws errc::refused where the file has a second name.
    void refuse_second_name(state seen) const;

private:
    using identity = std::pair<dev_t, ino_t>;
    struct view {
        std::array<identity, 3> files{};
        bool linked = false;
        bool mounted = false;
    };

    [[nodiscard]] view read() const;

    std::string given_, path_;
    std::array<identity, 3> files_;
};

// Who but the owner can open the file, or put another one in its place.
struct file_rights {
    mode_t file = 0;
    mode_t folder = 0;
    [[nodiscard]] bool others_may_open() const noexcept;
    [[nodiscard]] bool others_may_replace() const noexcept;
};
[[nodiscard]] file_rights rights_of(const std::string& path);

}  // namespace pawl::sqlite
