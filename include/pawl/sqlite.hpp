// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in a SQLite file, for several processes on one host, without a server:
// docs/backends/sqlite.md.
#pragma once

#include <pawl/service.hpp>

#include <string>
#include <string_view>

namespace pawl::sqlite {

// Where the locks are.
struct options {
    // The file. `at` makes a relative path absolute. If the file is missing, the first use creates
    // it, for this user alone. The first use fails with errc::refused for a file on a network file
    // system, and for one with a second name (a hard link, or a mount of the file alone).
    std::string path{};
    // Locks in different namespaces of a file are different. Not empty.
    std::string name_space = "pawl";
    // True: the first use also creates the folder of the file, for this user alone.
    bool make_folder = false;
};

// The options of such a URL. Throws errc::bad_url for a URL that is not understood.
[[nodiscard]] options parse(std::string_view url);

// Does not open the file. Throws errc::bad_option for a path or namespace that cannot be used, and
// errc::refused for a path that leads to another place than it says.
[[nodiscard]] service at(options settings);
// sqlite:/path or sqlite:path, with ?namespace=NAME. Throws errc::bad_url for a URL that is not
// understood.
[[nodiscard]] service at(std::string_view url);

}  // namespace pawl::sqlite
