// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Clients of Redlock over real servers, with their log.
#pragma once

#include "redis_fixture.hpp"

#include <support/redlock_group.hpp>

namespace chaos {

using support::redlock_group;

class redlock_fixture : public testing::Test {
protected:
    [[nodiscard]] client client_at(const std::string& url) {
        pawl::client_options options;
        options.log = [this](std::string_view line) { client_log.write(line); };
        return client(pawl::from_url(url), options);
    }
    // Of a try with a client of its own.
    [[nodiscard]] std::optional<failure> failure_at(const std::string& url) {
        try {
            client locks = client_at(url);
            (void)locks.try_acquire("it", {.ttl = 50ms});
        } catch (const pawl::error& e) {
            client_log.write(e.what());
            return failure{e.reason(), e.what()};
        }
        return std::nullopt;
    }

    log_capture client_log;
};

}  // namespace chaos
