// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which copies of a commit exist when the server answers it.
#pragma once

#include "server_errors.hpp"

#include "../sql/session.hpp"

#include <pawl/durability.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::postgres {

struct commit_settings {
    bool has_fsync = true;
    std::string synchronous_commit;  // of the session
    std::string synchronous_standbys;
};

[[nodiscard]] const char* durability_query() noexcept;
// Throws errc::protocol.
[[nodiscard]] commit_settings read_commit_settings(const std::vector<sql::row>& rows,
                                                   const error_place& place);
// How many standbys a commit waits for: the number in a value of synchronous_standby_names.
[[nodiscard]] std::uint32_t awaited_standbys(std::string_view names) noexcept;
// Throws errc::unsupported for the disk, errc::not_durable for replicas.
void check_durability(const commit_settings& settings, durability wanted, const error_place& place);

}  // namespace pawl::postgres
