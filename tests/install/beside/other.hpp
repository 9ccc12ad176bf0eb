// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Another library's code over some Asio, as a static library of the program.
#pragma once

#include <cstddef>

// Timers, a strand, threads and sockets; returns the number of completions, which must be `rounds`
// × 4.
std::size_t run_other(std::size_t rounds);

// An io_context of that library if its Boost is Pawl's, else null; and its run().
void* other_loop();
void run_other_loop();
