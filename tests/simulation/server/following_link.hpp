// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A link to the master among several simulated servers, as one program knows it: the real link with
// a locator, over the simulated network.
#pragma once

#include "simulated_network.hpp"

#include <pawl/redis.hpp>
#include <pawl/service.hpp>
#include <redis/common/limits.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace pawl::simulation {

// Tells a program's link which server is the master. To be called in that program.
class master_notice {
public:
    void move_to(std::size_t server, std::uint64_t epoch) {
        server_ = server;
        epoch_ = epoch;
        if (on_move_) on_move_();
    }
    [[nodiscard]] std::size_t server() const noexcept { return server_; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    void on_move(std::function<void()> moved) { on_move_ = std::move(moved); }

private:
    std::size_t server_ = 0;
    std::uint64_t epoch_ = 0;
    std::function<void()> on_move_;
};

// The arguments must outlive every client of the service.
[[nodiscard]] service following_service(std::vector<simulated_network*> servers,
                                        master_notice& notice, simulated_process& process,
                                        const redis::options& options);

}  // namespace pawl::simulation
