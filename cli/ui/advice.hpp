// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The messages of the library in the words of the command line.
#pragma once

#include <string>
#include <string_view>

namespace pawl::cli {

// The option that names the service in this command line, such as "--on 'URL'"; empty if the
// environment or a file names it. An advised command without this option would act elsewhere.
void set_service_option(std::string option);

// Adds the option of the service to each advised command (`pawl status 'x'`), and replaces C++
// names by options of the command line.
[[nodiscard]] std::string in_command_words(std::string_view text);

}  // namespace pawl::cli
