// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The number of renewals that the keeper sends to a service that cannot be reached.
#include "kernel/virtual_runtime.hpp"
#include "support/idle_backend.hpp"

#include <core/lease/lease_keeper.hpp>
#include <pawl/options.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

class silent_backend final : public support::idle_backend {
public:
    // Fails at once, as if the network were unreachable or a disk full.
    asio::awaitable<void> renew(renewal_batch& batch) override {
        ++calls;
        for (const auto& each : batch.renewals())
            renewed.push_back(each.held->claim.owner);
        largest_batch = std::max(largest_batch, batch.renewals().size());
        co_return;
    }
    std::size_t renewals_at_once() const noexcept override { return batch_limit; }

    int calls = 0;
    std::size_t batch_limit = 256, largest_batch = 0;
    std::vector<std::string> renewed;
};

// From a third of the ttl on, a renewal every twentieth, until the hold is lost: no busy loop.
TEST(Keeper, PausesAfterARenewalThatFailedAtOnce) {
    scheduler loop;
    simulated_process process(loop, time_point(1h), 1.0);
    virtual_runtime time(process, prng(1));
    silent_backend service;
    int losses = 0;
    counter renewals;
    const auto ignore = [](const std::shared_ptr<core::lease>&) {};
    core::lease_keeper keeper(
        time, process.get_executor(), service, renewals,
        {.on_lease_lost = [&](const std::shared_ptr<core::lease>&) { ++losses; },
         .on_orphan = ignore,
         .on_renewal = ignore});
    const claim wanted{.name = "it", .owner = "owner", .ttl = 1s};
    core::lease_keeper::reservation reservation(
        keeper, std::make_shared<core::lease>(nullptr, time, wanted, forever));
    auto granted =
        reservation.keep({.deadline = time.now() + 1s - drift(1s), .stored_value = "proof"});
    const auto lease = std::exchange(granted.held_lease, nullptr);
    asio::co_spawn(process.get_executor(), keeper.run(nullptr), asio::detached);
    while (losses == 0 && loop.step()) {}
    EXPECT_EQ(lease->state(), lock_state::lost);
    EXPECT_GE(service.calls, 10);
    EXPECT_LE(service.calls, 20);
    keeper.stop();
    loop.run_ready();
}

// Five renewals are due together and the service takes two at once: 2, 2 and 1, each hold once.
TEST(Keeper, AsksForNoMoreAtOnceThanTheServiceTakes) {
    scheduler loop;
    simulated_process process(loop, time_point(1h), 1.0);
    virtual_runtime time(process, prng(1));
    silent_backend service;
    service.batch_limit = 2;
    counter renewals;
    const auto ignore = [](const std::shared_ptr<core::lease>&) {};
    core::lease_keeper keeper(time, process.get_executor(), service, renewals,
                              {.on_lease_lost = ignore, .on_orphan = ignore, .on_renewal = ignore});
    std::vector<std::shared_ptr<core::lease>> leases;
    const std::vector<std::string> owners{"a", "b", "c", "d", "e"};
    for (const auto& owner : owners) {
        const claim wanted{.name = "it", .owner = owner, .ttl = 1s};
        core::lease_keeper::reservation reservation(
            keeper, std::make_shared<core::lease>(nullptr, time, wanted, forever));
        auto granted =
            reservation.keep({.deadline = time.now() + 1s - drift(1s), .stored_value = "p"});
        leases.push_back(std::exchange(granted.held_lease, nullptr));
    }
    asio::co_spawn(process.get_executor(), keeper.run(nullptr), asio::detached);
    while (service.renewed.size() < owners.size() && loop.step()) {}
    std::ranges::sort(service.renewed);
    EXPECT_EQ(service.renewed, owners);
    EXPECT_EQ(service.calls, 3);
    EXPECT_EQ(service.largest_batch, 2U);
    keeper.stop();
    loop.run_ready();
}

}  // namespace
}  // namespace pawl::simulation
