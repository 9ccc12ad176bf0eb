// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks between the threads of one client process. It is paused; its end would be the end of the
// locks, so it is never killed.
#include "environments.hpp"

namespace real {

namespace {

class memory_environment : public environment {
public:
    [[nodiscard]] client_access access(token_source) const override { return {.url = "memory:"}; }
    [[nodiscard]] support::machine client_machine(std::size_t) const override { return {}; }
    [[nodiscard]] std::vector<fault> faults() override { return {}; }
    [[nodiscard]] std::vector<server_period> history() override { return {}; }
    [[nodiscard]] std::string logs() override { return {}; }
};

}  // namespace

std::unique_ptr<environment> start_memory(const environment_options&) {
    return std::make_unique<memory_environment>();
}

}  // namespace real
