// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Without another Asio.
#include "other.hpp"

std::size_t run_other(std::size_t rounds) { return rounds * 4; }
void* other_loop() { return nullptr; }
void run_other_loop() {}
