// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Checks of names and options. Each error message says what to do.
#pragma once

#include "../util/spi.hpp"

#include <pawl/client_options.hpp>
#include <pawl/options.hpp>

#include <string_view>

namespace pawl::core {

// Throws errc::bad_name: 1 to 512 bytes, no control characters.
void check_name(std::string_view name);
// Throws errc::bad_option.
void check_options(const lock_options& options);
// Throws errc::bad_option for a ttl that the service does not support.
void check_ttl(duration ttl, const capabilities& capabilities);
// Throws errc::unsupported for a mode that the service does not have.
void check_mode(const lock_options& options, const backend& backend);
// Throws errc::unsupported for a durability that the service does not have.
void check_durability(durability wanted, const capabilities& capabilities);
// For `acquire_as` and `adopt`. Throws errc::unsupported or errc::bad_option.
void check_value(std::string_view value, const lock_options& options,
                 const capabilities& capabilities);
void check_polling(const polling& retry);
void check_client_options(const client_options& options);

}  // namespace pawl::core
