// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Removes the passwords from URLs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// The URL without its password. The user remains.
[[nodiscard]] std::string without_password(std::string_view url);

// Environment variables from which the URL's options take a secret.
[[nodiscard]] std::vector<std::string> variables_of(std::string_view url);

// Overwrites passwords of URLs in the process's arguments and in its initial PAWL_URL, which `ps`
// would show. Called once, after the arguments and PAWL_URL were copied.
void hide_passwords(int count, char** arguments);

}  // namespace pawl::cli
