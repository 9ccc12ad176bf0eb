// Locks in a SQLite file: several processes on one host, no server. docs/sqlite.md.
#pragma once

#include <pawl/service.hpp>

#include <string>

namespace pawl::sqlite {

struct options {
    // Made with its folder when missing. On a file system of this host: network ones are refused.
    std::string path{};
    std::string name_space = "pawl";
};

// Throws errc::bad_option with one sentence.
[[nodiscard]] service at(options where);

}  // namespace pawl::sqlite
