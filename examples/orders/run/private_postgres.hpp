// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private PostgreSQL server, for an example.
#pragma once

#include <support/process.hpp>

namespace shop {

// The folder of the newest installed PostgreSQL's programs; empty if there is none.
[[nodiscard]] std::filesystem::path postgres_programs();

// postgres on a free loopback port, with its data in FOLDER/postgres, and for nobody else: it
// writes without fsync. If the caller is root, it runs as the user postgres, since it refuses to
// run as root. Throws std::runtime_error if it does not start. The destructor ends it.
class private_postgres {
public:
    explicit private_postgres(const std::filesystem::path& folder);
    ~private_postgres();
    private_postgres(const private_postgres&) = delete;
    private_postgres& operator=(const private_postgres&) = delete;

    // Of the superuser.
    [[nodiscard]] std::string url(const std::string& database = "postgres") const;

private:
    [[nodiscard]] bool try_start();

    std::filesystem::path programs_, folder_;
    std::uint16_t port_ = 0;
    support::child server_;
};

}  // namespace shop
