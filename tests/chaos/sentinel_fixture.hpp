// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Clients of Sentinels whose log is captured.
#pragma once

#include "redis_fixture.hpp"

#include <support/sentinel_group.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace chaos {

class sentinel_fixture : public testing::Test {
protected:
    [[nodiscard]] client client_at(const std::string& url) {
        pawl::client_options options;
        options.log = [this](std::string_view line) { client_log.write(line); };
        return client(pawl::from_url(url), options);
    }
    [[nodiscard]] std::optional<failure> failure_at(const std::string& url,
                                                    pawl::duration wait = 4s) {
        client locks = client_at(url);
        try {
            (void)locks.acquire("it", {.ttl = 2s, .wait = wait});
        } catch (const pawl::error& e) {
            client_log.write(e.what());
            return failure{e.reason(), e.what()};
        }
        return std::nullopt;
    }
    static std::uint64_t epoch_of(const held_lock& lock) { return lock.token().value() >> 47; }
    // An address of the loopback, as messages have it.
    static std::string at(const support::redis_server& server) {
        return "127.0.0.1:" + std::to_string(server.port());
    }

    log_capture client_log;
};

}  // namespace chaos
