// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backend over any database that has Pawl's functions.
#pragma once

#include "session.hpp"

#include <memory>
#include <string>

namespace pawl::sql {

[[nodiscard]] std::unique_ptr<backend> make_backend(std::unique_ptr<connector> database,
                                                    std::string name_space,
                                                    const backend_context& context);

}  // namespace pawl::sql
