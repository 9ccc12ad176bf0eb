// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redisson's two kinds of permits.
#pragma once

#include "java_synchronizer.hpp"

#include <cstdint>
#include <string>

namespace pawl::simulation {

// Permits of Redisson's PermitExpirableSemaphore for one thread of a Java program: trySetPermits,
// acquire and tryAcquire with and without a lease, release and updateLeaseTime, by Redisson's own
// scripts.
class java_permits final : public java_synchronizer {
public:
    struct request {
        std::uint32_t permits = 1;
        duration lease{};        // `forever`: none
        bool sets_total = true;  // trySetPermits
    };
    java_permits(java_client& client, std::string name, std::uint64_t thread,
                 const request& wanted);

    boost::asio::awaitable<hold> acquire(time_point give_up_at) override;
    boost::asio::awaitable<void> release() override;
    boost::asio::awaitable<bool> renew() override;
    [[nodiscard]] const std::string& owner() const noexcept override { return owner_; }

private:
    boost::asio::awaitable<attempt> attempt_before_wait() override;
    [[nodiscard]] words acquire_arguments();
    [[nodiscard]] std::string lease_end() const;

    java_client& client_;
    const std::string name_, lent_permits_, channel_, owner_;
    const request request_;
    words ids_;  // of the last attempt
};

// Permits of Redisson's Semaphore for one thread of a Java program: trySetPermits, tryAcquire and
// release, by Redisson's own scripts. These permits have no lease and no owner.
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
