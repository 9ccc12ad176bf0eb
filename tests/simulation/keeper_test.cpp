// A service that cannot be asked: how often is it asked?
#include "idle_backend.hpp"
#include "virtual_runtime.hpp"

#include <core/lease_keeper.hpp>
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

class silent_backend final : public idle_backend {
public:
    // Fails at once, as where the network is unreachable or a disk is full.
    asio::awaitable<void> renew(std::span<renewal> batch) override {
        ++asked;
        for (const auto& each : batch)
            renewed.push_back(each.what->claim.owner);
        largest = std::max(largest, batch.size());
        co_return;
    }
    std::size_t renewals_at_once() const noexcept override { return most; }

    int asked = 0;
    std::size_t most = 256, largest = 0;
    std::vector<std::string> renewed;
};

// From a third of the ttl on, every twentieth of it, until it is lost: not in a loop without end.
TEST(Keeper, PausesAfterARenewalThatFailedAtOnce) {
    scheduler world;
    process home(world, time_point(1h), 1.0);
    virtual_runtime time(home, prng(1));
    silent_backend service;
    int losses = 0;
    counter renewals;
    const auto ignore = [](const std::shared_ptr<core::lease>&) {};
    core::lease_keeper keeper(time, home.get_executor(), service, renewals,
                              {.on_loss = [&](const std::shared_ptr<core::lease>&) { ++losses; },
                               .on_orphan = ignore,
                               .on_renewal = ignore});
    const claim wanted{.name = "it", .owner = "owner", .ttl = 1s};
    core::lease_keeper::place kept(keeper,
                                   std::make_shared<core::lease>(nullptr, time, wanted, forever));
    auto granted = kept.keep("owner", {.deadline = time.now() + 1s - drift(1s), .proof = "proof"});
    const auto one = std::exchange(granted.what, nullptr);
    asio::co_spawn(home.get_executor(), keeper.run(nullptr), asio::detached);
    while (losses == 0 && world.step()) {}
    EXPECT_EQ(one->state(), lock_state::lost);
    EXPECT_GE(service.asked, 10);
    EXPECT_LE(service.asked, 20);
    keeper.stop();
    world.run_ready();
}

// Five holds are due together, and the service takes two at once: 2, 2 and 1, each hold once.
TEST(Keeper, AsksForNoMoreAtOnceThanTheServiceTakes) {
    scheduler world;
    process home(world, time_point(1h), 1.0);
    virtual_runtime time(home, prng(1));
    silent_backend service;
    service.most = 2;
    counter renewals;
    const auto ignore = [](const std::shared_ptr<core::lease>&) {};
    core::lease_keeper keeper(time, home.get_executor(), service, renewals,
                              {.on_loss = ignore, .on_orphan = ignore, .on_renewal = ignore});
    std::vector<std::shared_ptr<core::lease>> kept;
    const std::vector<std::string> owners{"a", "b", "c", "d", "e"};
    for (const auto& owner : owners) {
        const claim wanted{.name = "it", .owner = owner, .ttl = 1s};
        core::lease_keeper::place place(
            keeper, std::make_shared<core::lease>(nullptr, time, wanted, forever));
        auto granted = place.keep(owner, {.deadline = time.now() + 1s - drift(1s), .proof = "p"});
        kept.push_back(std::exchange(granted.what, nullptr));
    }
    asio::co_spawn(home.get_executor(), keeper.run(nullptr), asio::detached);
    while (service.renewed.size() < owners.size() && world.step()) {}
    std::ranges::sort(service.renewed);
    EXPECT_EQ(service.renewed, owners);
    EXPECT_EQ(service.asked, 3);
    EXPECT_EQ(service.largest, 2U);
    keeper.stop();
    world.run_ready();
}

}  // namespace
}  // namespace pawl::simulation
