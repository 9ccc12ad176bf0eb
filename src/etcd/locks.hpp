// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backend.
#pragma once

#include "../core/util/spi.hpp"

#include <pawl/etcd.hpp>

#include <memory>

namespace pawl::etcd {

[[nodiscard]] std::unique_ptr<backend> make_backend(const options& settings,
                                                    const backend_context& context);

}  // namespace pawl::etcd
