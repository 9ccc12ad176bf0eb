// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/backend_urls.hpp"

#include <pawl/postgres.hpp>

#include <array>

namespace pawl::postgres {
namespace {

constexpr std::string_view advice = "; a PostgreSQL database is postgresql://USER@HOST/DATABASE.";
constexpr std::array foreign_schemes{core::foreign_scheme{"pgsql", advice},
                                     core::foreign_scheme{"psql", advice},
                                     core::foreign_scheme{"pg", advice}};

}  // namespace

extern const core::backend_urls urls;  // for the table of from_url()
constinit const core::backend_urls urls{.open = at, .foreign_schemes = foreign_schemes};

}  // namespace pawl::postgres
