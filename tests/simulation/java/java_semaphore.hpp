// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Permits of Redisson's Semaphore for one thread of a Java program: trySetPermits, tryAcquire and
// release, by Redisson's own scripts. These permits have no lease and no owner.
#pragma once

#include "java_synchronizer.hpp"

#include <cstdint>
#include <string>

namespace pawl::simulation {

class java_semaphore final : public java_synchronizer {
public:
    java_semaphore(java_client& client, std::string name, std::uint64_t thread,
                   std::uint32_t permits);

    boost::asio::awaitable<hold> acquire(time_point give_up_at) override;
    boost::asio::awaitable<void> release() override;
    boost::asio::awaitable<bool> renew() override;
    [[nodiscard]] const std::string& owner() const noexcept override { return owner_; }

private:
    boost::asio::awaitable<attempt> attempt_before_wait() override;

    java_client& client_;
    const std::string name_, channel_, owner_, permits_;
};

}  // namespace pawl::simulation
