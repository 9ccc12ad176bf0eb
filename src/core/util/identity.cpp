// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "identity.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

namespace pawl::core {

identity this_process(const std::string& command) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    identity process{host.data(), ::getpid(), command};
    if (process.command.empty()) {
        std::ifstream name("/proc/self/comm");
        std::getline(name, process.command);
    }
    return process;
}

}  // namespace pawl::core
