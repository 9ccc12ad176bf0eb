// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Ctrl-C ends a soak early.
#pragma once

namespace real::soak {

// SIGINT and SIGTERM are blocked, here and in all processes that are started afterwards: a terminal
// sends them to the servers and clients, too.
class interruption {
public:
    interruption();

    // How many signals have come: after the first the soak ends as soon as the servers have
    // recovered from the present fault, after the second at once.
    [[nodiscard]] int count();

private:
    int count_ = 0;
};

}  // namespace real::soak
