// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A locator that names another server: the client follows at once, and asks about every hold.
#include "redis_fixture.hpp"

#include <redis/common/backends.hpp>
#include <redis/topology/single_server.hpp>
#include <redis/transport/reconnecting_link.hpp>

#include <boost/asio/post.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace {

using namespace chaos;
namespace asio = boost::asio;
namespace redis = pawl::redis;

// The location that a test sets, from any thread.
class set_locator final : public redis::locator {
public:
    asio::awaitable<redis::location> next(pawl::time_point) override {
        const std::lock_guard lock(mutex_);
        if (!failure_.empty()) throw pawl::error(errc::unavailable, failure_);
        co_return location_;
    }
    void set(redis::location known) {
        const std::lock_guard lock(mutex_);
        location_ = std::move(known);
        failure_.clear();
    }
    void fail(std::string reason) {
        const std::lock_guard lock(mutex_);
        failure_ = std::move(reason);
    }

private:
    std::mutex mutex_;
    redis::location location_;
    std::string failure_;
};

// A service whose only server is where its locator says.
class located_definition final : public pawl::service::definition {
public:
    explicit located_definition(std::shared_ptr<set_locator> known_locator)
        : locator_(std::move(known_locator)) {}

    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context context) const override {
        const redis::link_factory connect = [this, context](redis::link::listener& receiver,
                                                            const std::string& channel) {
            auto settings = redis::settings_of({});
            settings.accepts_replica = false;
            auto made = std::make_shared<redis::reconnecting_link>(
                locator_, settings, "the service", context, receiver, channel);
            link_ = made;
            strand_ = context.strand;
            return made;
        };
        return redis::native::make_backend({}, context, redis::single_server_factory(connect));
    }
    std::string describe() const override { return "the service"; }

    void reconnect() const {
        asio::post(strand_, [weak_link = link_] {
            if (const auto alive = weak_link.lock())
                alive->reconnect("another server is the master");
        });
    }

private:
    const std::shared_ptr<set_locator> locator_;
    mutable std::weak_ptr<redis::reconnecting_link> link_;
    mutable asio::any_io_executor strand_;
};

class Locator : public testing::Test, protected redis_fixture {
protected:
    Locator() : redis_fixture({.config = {"repl-diskless-sync-delay 0"}}) {}

    static redis::location location_of(const support::redis_server& at, std::uint64_t epoch) {
        redis::location known;
        known.server.host = "127.0.0.1";
        known.server.port = at.port();
        known.epoch = epoch;
        return known;
    }
    [[nodiscard]] client make_client() {
        pawl::client_options options;
        options.log = [this](std::string_view line) { client_log.write(line); };
        return client(pawl::service(service_), options);
    }
    // The other server has all data of the first one, and is a master.
    void copy_data() {
        (void)other_.execute({"REPLICAOF", "127.0.0.1", std::to_string(server.port())});
        ASSERT_TRUE(eventually([&] {
            return other_.execute({"INFO", "replication"}).text.find("master_link_status:up") !=
                   std::string::npos;
        }));
        ASSERT_TRUE(eventually([&] { return other_.keys() == server.keys(); }));
    }
    void promote() { (void)other_.execute({"REPLICAOF", "NO", "ONE"}); }
    void switch_to(const support::redis_server& next, std::uint64_t epoch) {
        locator_->set(location_of(next, epoch));
        service_->reconnect();
    }
    [[nodiscard]] std::int64_t remaining_ms(const std::string& name) {
        return other_.execute({"PTTL", "pawl:{" + name + "}"}).number();
    }

    support::redis_server other_;
    const std::shared_ptr<set_locator> locator_ = std::make_shared<set_locator>();
    const std::shared_ptr<located_definition> service_ =
        std::make_shared<located_definition>(locator_);
};

//   C: holds a and b at A, which is copied to B without b | the locator names B, and A still
//   answers | C: connects to B at once, renews both: a is extended although it is not due, b is
//   lost
TEST_F(Locator, IsFollowedWhileTheOldServerStillAnswers) {
    locator_->set(location_of(server, 1));
    client locks = make_client();
    const auto copied = locks.acquire("a", {.ttl = 60s});
    copy_data();
    promote();
    const auto forgotten = locks.acquire("b", {.ttl = 60s});
    (void)other_.execute({"PEXPIRE", "pawl:{a}", "50000"});
    switch_to(other_, 2);
    EXPECT_TRUE(eventually([&] { return remaining_ms("a") > 55'000; })) << client_log.text();
    EXPECT_TRUE(eventually([&] { return forgotten.state() == lock_state::lost; }));
    EXPECT_EQ(copied.state(), lock_state::held);
    EXPECT_TRUE(locks.try_acquire("b", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(server.execute({"EXISTS", "pawl:{b}"}).number(), 1) << "asked the old server again";
}

// B answers at the address that A had: the run id is the same, the epoch is not.
TEST_F(Locator, AnotherEpochOfTheSameServerIsAPossibleLoss) {
    locator_->set(location_of(server, 1));
    client locks = make_client();
    const auto held = locks.acquire("a", {.ttl = 60s});
    (void)server.execute({"DEL", "pawl:{a}"});
    switch_to(server, 2);
    EXPECT_TRUE(eventually([&] { return held.state() == lock_state::lost; }));
}

// As for a name that cannot be resolved: requests wait, and the attempts go on.
TEST_F(Locator, MayFail) {
    locator_->fail("No Sentinel answers.");
    client locks = make_client();
    const auto failed = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 1500ms}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_NE(failed->sentence.find("No Sentinel answers"), std::string::npos) << failed;
    locator_->set(location_of(server, 1));
    EXPECT_TRUE(can_acquire(locks));
}

// The locator still names a server that is a replica by now.
TEST_F(Locator, IsAskedAgainWhenItNamesAReplica) {
    copy_data();
    locator_->set(location_of(other_, 1));
    client locks = make_client();
    const auto failed = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 1500ms}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_NE(failed->sentence.find("is a replica, not the master"), std::string::npos) << failed;
    locator_->set(location_of(server, 2));
    EXPECT_TRUE(can_acquire(locks));
}

//   C: connected to A | A becomes a replica, without an end of its connections | C: acquires, and
//   A refuses to write | the locator names B | C: acquires there
TEST_F(Locator, IsAskedAgainWhenAConnectedServerIsAReplica) {
    locator_->set(location_of(server, 1));
    client locks = make_client();
    (void)locks.acquire("a", {.ttl = 2s}).release();
    (void)server.execute({"REPLICAOF", "127.0.0.1", std::to_string(other_.port())});
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    EXPECT_NE(failed->sentence.find("is a replica now"), std::string::npos) << failed;
    held_lock acquired;
    background_task waiter([&] { acquired = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    EXPECT_TRUE(eventually([&] {
        return client_log.text().find("is a replica, not the master") != std::string::npos;
    }));
    locator_->set(location_of(other_, 2));
    waiter.join();
    EXPECT_EQ(acquired.token().value() >> 47, 2U);
}

}  // namespace
