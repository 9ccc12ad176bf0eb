// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Removes the passwords from URLs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// A valid URL without its password, for use. The user remains.
[[nodiscard]] std::string without_password(std::string_view url);
// Also without the options that name a file or a variable with a password.
[[nodiscard]] std::string without_password_places(std::string_view url);
// A text for people, such as an argument, without the password of a URL in it. A URL whose password
// may contain an unescaped '/' or '?' becomes SCHEME:***, which no service has as its URL.
[[nodiscard]] std::string hide_password(std::string_view text);

// Environment variables from which the URL's options take a password.
[[nodiscard]] std::vector<std::string> variables_of(std::string_view url);

// Overwrites passwords of URLs in the process's arguments and in its initial PAWL_URL, which `ps`
// would show. Called once, after the arguments and PAWL_URL were copied.
void hide_passwords(int count, char** arguments);

}  // namespace pawl::cli
