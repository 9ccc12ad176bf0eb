// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The services on which the behaviour of the command is tested.
#pragma once

#include "command.hpp"

#include <support/redis_server.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace cli_test {

struct backend {
    const char* name;
    bool on_redis;
};
inline void PrintTo(const backend& value, std::ostream* out) { *out << value.name; }

// An empty sandbox, with its own server if the backend needs one.
class backend_sandbox {
public:
    explicit backend_sandbox(const backend& target) {
        if (target.on_redis) server_.emplace();
        sandbox_.emplace(server_ ? server_->url() : std::string());
    }
    [[nodiscard]] const test_sandbox& sandbox() const { return *sandbox_; }

private:
    std::optional<support::redis_server> server_;
    std::optional<test_sandbox> sandbox_;
};

[[nodiscard]] std::vector<backend> backends();

}  // namespace cli_test
