// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "settings.hpp"

#include <memory>

namespace pawl::zookeeper {

[[nodiscard]] std::unique_ptr<backend> make_backend(std::shared_ptr<const client_settings> settings,
                                                    const backend_context& context);
// What clients with these settings can do.
[[nodiscard]] spi::capabilities capabilities_of(const options& given) noexcept;

}  // namespace pawl::zookeeper
