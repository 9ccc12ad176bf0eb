// Locks in a SQLite file: several processes on one host, no server. docs/sqlite.md.
#pragma once

#include <pawl/service.hpp>

#include <string>

namespace pawl::sqlite {

struct options {
    // Made when missing, for this user alone. On a file system of this host: network ones are
    // refused, and so is a file with a second name (a hard link, or a mount of the file alone).
    std::string path{};
    std::string name_space = "pawl";
    // Also makes the folder of the file when it is missing, for this user alone.
    bool make_folder = false;
};

// Throws errc::bad_option with one sentence.
[[nodiscard]] service at(options where);

}  // namespace pawl::sqlite
