// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "verbs/command_line.hpp"

int main(int argc, char** argv) { return pawl::cli::run_command(argc, argv); }
