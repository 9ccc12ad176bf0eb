// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The error for a lock or latch that could not be requested from the server.
#pragma once

#include <pawl/error.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

// `subject` is the first words of the sentence: "The lock 'x'".
[[nodiscard]] inline error could_not_be_requested(std::string_view subject,
                                                  std::string_view reason) {
    return {errc::unreachable, std::string(subject) + " could not be requested: " +
                                   std::string(reason) + "; check that the server is up."};
}
[[nodiscard]] inline error lock_unreachable(std::string_view name, std::string_view reason) {
    return could_not_be_requested("The lock '" + std::string(name) + "'", reason);
}

}  // namespace pawl::redis
