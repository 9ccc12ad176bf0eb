// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backend of one client, over the sessions of a database.
#pragma once

#include "session.hpp"

namespace pawl::sql {

[[nodiscard]] std::unique_ptr<backend> make_backend(std::unique_ptr<connector> database,
                                                    std::string name_space,
                                                    backend_context context);

}  // namespace pawl::sql
