// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Requests and answers that are lost, late or errors, between a client and a real Consul.
#include <support/consul_server.hpp>
#include <support/eventually.hpp>
#include <support/http_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/consul.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using support::consul_server;
using support::eventually;
using support::http_answer;
using support::http_request;
using support::http_server;

constexpr pawl::try_options no_wait{.ttl = 10s};
constexpr pawl::lock_options with_wait{.ttl = 10s, .wait = 60s};

bool is_acquire(const http_request& received) {
    return received.target == "/v1/txn" && received.body.find("\"cas\"") != std::string::npos;
}

bool is_release(const http_request& received) {
    return received.target == "/v1/txn" && received.body.find("\"delete\"") != std::string::npos;
}

class ConsulFaults : public testing::Test {
protected:
    // What happens to a request; empty: it is passed on.
    using fault = std::function<std::optional<std::string>(const http_request&)>;

    ConsulFaults() : number_(++count_) {}

    static const consul_server& server() {
        static const consul_server one;
        return one;
    }
    static std::string pass_on(const http_request& received) {
        return server().exchange(received.method, received.target, received.body);
    }
    void set_fault(fault injected) {
        const std::scoped_lock lock(mutex_);
        fault_ = std::move(injected);
    }
    std::string answer(const http_request& received) {
        fault injected;
        {
            const std::scoped_lock lock(mutex_);
            injected = fault_;
        }
        if (injected)
            if (const auto answered = injected(received)) return *answered;
        return pass_on(received);
    }
    std::string options() const { return "?namespace=test" + std::to_string(number_); }
    std::string proxied_url() const {
        return "consul://127.0.0.1:" + std::to_string(proxy_.port()) + options();
    }
    int number() const noexcept { return number_; }
    bool is_free(const std::string& name) { return !observer_.inspect(name).held_by; }

private:
    static int count_;
    const int number_;
    std::mutex mutex_;
    fault fault_;
    http_server proxy_{[this](const http_request& received) { return answer(received); }};

protected:
    pawl::blocking::client observer_{pawl::consul::at(server().url(options())), {.try_limit = 10s}};
};
int ConsulFaults::count_ = 0;

// The client sends an acquire and gets no answer; it gives up and changes the guard key; then the
// acquire arrives. Consul must refuse it: nobody would ever release that lock while the session
// lives, and another lock of the client keeps it alive.
TEST_F(ConsulFaults, AnAcquireThatArrivesAfterItsUndoIsRefused) {
    pawl::blocking::client client(pawl::consul::at(proxied_url()), {.try_limit = 3s});
    const auto other = client.acquire("other", with_wait);  // keeps the session
    std::binary_semaphore may_arrive(0);
    std::promise<std::string> late_answer;
    std::atomic<bool> is_held_back = false, is_undone = false;
    set_fault([&](const http_request& received) -> std::optional<std::string> {
        if (received.body.find("get-tree") != std::string::npos) {
            auto answered = pass_on(received);
            is_undone = true;
            return answered;
        }
        if (!is_acquire(received) || is_held_back.exchange(true)) return std::nullopt;
        may_arrive.acquire();
        late_answer.set_value(pass_on(received));
        return std::string();
    });
    EXPECT_THROW((void)client.try_acquire("it", no_wait), pawl::error);
    EXPECT_TRUE(is_held_back.load());
    EXPECT_TRUE(eventually([&] { return is_undone.load(); }));
    may_arrive.release();
    const auto answered = late_answer.get_future().get();
    EXPECT_NE(answered.find("409 Conflict"), std::string::npos) << answered;
    EXPECT_TRUE(is_free("it"));
    EXPECT_EQ(client.acquire("it", with_wait).release(), pawl::release_result::released);
    EXPECT_EQ(other.state(), pawl::lock_state::held);
    set_fault({});
}

// The acquire is carried out and its answer is lost: the lock must not stay until the session ends.
TEST_F(ConsulFaults, AGrantWhoseAnswerIsLostIsGivenBack) {
    pawl::blocking::client client(pawl::consul::at(proxied_url()), {.try_limit = 5s});
    const auto other = client.acquire("other", with_wait);
    std::atomic<bool> is_lost = false;
    set_fault([&](const http_request& received) -> std::optional<std::string> {
        if (!is_acquire(received) || is_lost.exchange(true)) return std::nullopt;
        (void)pass_on(received);
        return std::string();
    });
    EXPECT_THROW((void)client.try_acquire("it", no_wait), pawl::error);
    EXPECT_TRUE(is_lost.load());
    EXPECT_TRUE(eventually([&] { return is_free("it"); }, 8s));
    EXPECT_EQ(other.state(), pawl::lock_state::held);
    set_fault({});
}

TEST_F(ConsulFaults, AReleaseWhoseAnswerIsLostIsUnknownAndDone) {
    pawl::blocking::client client(pawl::consul::at(proxied_url()), {.try_limit = 5s});
    auto held = client.acquire("it", with_wait);
    std::atomic<bool> is_lost = false;
    set_fault([&](const http_request& received) -> std::optional<std::string> {
        if (!is_release(received) || is_lost.exchange(true)) return std::nullopt;
        (void)pass_on(received);
        return std::string();
    });
    EXPECT_EQ(held.release(), pawl::release_result::unknown);
    EXPECT_TRUE(is_free("it"));
    set_fault({});
}

// While Consul has no leader, an acquire goes on and a hold is not lost.
TEST_F(ConsulFaults, AnElectionIsNoLoss) {
    pawl::blocking::client client(pawl::consul::at(proxied_url()), {.try_limit = 2s});
    const auto other = client.acquire("other", with_wait);
    std::atomic<int> refusals = 0;
    set_fault([&](const http_request& received) -> std::optional<std::string> {
        if (received.method != "PUT" || ++refusals > 6) return std::nullopt;
        return http_answer(500, "No cluster leader");
    });
    EXPECT_TRUE(client.acquire("it", with_wait).owns_lock());
    EXPECT_GT(refusals.load(), 6);
    EXPECT_EQ(other.state(), pawl::lock_state::held);
    set_fault({});
}

TEST_F(ConsulFaults, ADestroyedSessionIsALossAndTheNextAcquireHasAnother) {
    pawl::blocking::client client(pawl::consul::at(server().url(options())), {.try_limit = 10s});
    auto held = client.acquire("it", with_wait);
    const auto key =
        server().request("GET", "/v1/kv/test" + std::to_string(number()) + "/it/.lock");
    const auto session = key.substr(key.find("\"Session\":\"") + 11, 36);
    ASSERT_EQ(server().request("PUT", "/v1/session/destroy/" + session), "true");
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_NE(held.release(), pawl::release_result::released);
    const auto next = client.acquire("it", with_wait);
    EXPECT_GT(next.token(), held.token());
}

TEST_F(ConsulFaults, ADeletedKeyIsALoss) {
    pawl::blocking::client client(pawl::consul::at(server().url(options())), {.try_limit = 10s});
    auto held = client.acquire("it", with_wait);
    const auto other = client.acquire("other", with_wait);
    server().request("DELETE", "/v1/kv/test" + std::to_string(number()) + "/it/.lock");
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.why_lost(), pawl::loss_reason::missing);
    EXPECT_EQ(other.state(), pawl::lock_state::held);
}

}  // namespace
