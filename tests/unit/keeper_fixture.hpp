// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A keeper of leases with a manual clock, and a service that replies when the test says so.
#pragma once

#include "core/lease/lease_keeper.hpp"
#include "core/util/wakeup.hpp"
#include "manual_time.hpp"

#include <pawl/error.hpp>
#include <pawl/options.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

namespace asio = boost::asio;
inline constexpr duration ttl = std::chrono::seconds(60);

enum class reply_kind { accepted, refused, no_reply, no_memory };

// Every request stays open until `answer_next`, the oldest first.
class slow_backend final : public backend {
public:
    slow_backend(runtime& time, asio::any_io_executor executor)
        : time_(time), executor_(std::move(executor)) {}

    asio::awaitable<std::optional<grant>> acquire(const claim&, time_point) override {
        co_return std::nullopt;
    }
    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto request = begin_request("renew");
        request->batch = &batch;
        co_await request->answered.wait_until(time_point::max());
        if (request->reply == reply_kind::no_memory) throw std::bad_alloc();
        for (std::size_t i = 0; i < batch.renewals().size(); ++i)
            settle(*request, i, request->reply);
    }
    asio::awaitable<std::optional<grant>> downgrade(const hold& held) override {
        downgrade_ttl = held.claim.ttl;
        const auto asked_at = time_.now();
        const reply_kind reply = co_await wait_for_reply("downgrade");
        if (reply == reply_kind::no_memory) throw std::bad_alloc();
        if (reply == reply_kind::no_reply) throw error(errc::unreachable, "Nobody answers.");
        if (reply == reply_kind::refused) co_return std::nullopt;
        grant granted{.deadline = asked_at + ttl - drift(ttl), .stored_value = "shared value"};
        co_return granted;
    }
    asio::awaitable<release_result> release(const hold& released_hold) override {
        released = released_hold.grant.stored_value;
        co_return release_result::released;
    }
    asio::awaitable<lock_info> inspect(std::string_view) override { co_return lock_info{}; }
    asio::awaitable<std::vector<lock_info>> list(std::string_view) override {
        co_return std::vector<lock_info>{};
    }
    asio::awaitable<bool> force_release(std::string_view, fencing_token) override {
        co_return false;
    }
    asio::awaitable<examination> examine() override { co_return examination{}; }
    asio::awaitable<void> close(time_point) override { co_return; }
    pawl::spi::capabilities capabilities() const noexcept override { return {}; }

    void answer_next(reply_kind reply) {
        const auto request = requests_.front();
        requests_.pop_front();
        request->reply = reply;
        request->answered.notify();
    }

    // Ends the newest request; its settled renewals keep their outcomes.
    void end_last() {
        const auto request = requests_.back();
        requests_.pop_back();
        request->answered.notify();
    }
    // Settles one renewal of an open request, which stays open.
    void settle_in(std::size_t request, std::size_t index, reply_kind reply) {
        settle(*requests_.at(request), index, reply);
    }
    // The owners in an open request.
    [[nodiscard]] std::vector<std::string> owners_in(std::size_t request) const {
        std::vector<std::string> owners;
        for (const auto& each : requests_.at(request)->batch->renewals())
            owners.push_back(each.held->claim.owner);
        return owners;
    }
    [[nodiscard]] std::size_t open_requests() const { return requests_.size(); }
    [[nodiscard]] time_point useful_until_of(std::size_t request) const {
        return requests_.at(request)->batch->renewals().front().useful_until;
    }
    std::size_t renewals_at_once() const noexcept override { return largest_batch; }
    std::size_t unanswered_renewals() const noexcept override { return most_unanswered; }

    [[nodiscard]] bool has_requests() const { return !requests_.empty(); }

    std::size_t largest_batch = 256;
    std::size_t most_unanswered = 1;
    std::vector<std::string> operations;
    std::string released;      // the stored value of the released hold
    duration downgrade_ttl{};  // of the last request

private:
    struct pending_request {
        core::wakeup answered;
        reply_kind reply = reply_kind::no_reply;
        time_point asked_at{};
        renewal_batch* batch = nullptr;  // of a renewal
    };

    std::shared_ptr<pending_request> begin_request(const char* operation) {
        operations.emplace_back(operation);
        auto request =
            std::make_shared<pending_request>(pending_request{core::wakeup(time_, executor_)});
        request->asked_at = time_.now();
        requests_.push_back(request);
        return request;
    }
    asio::awaitable<reply_kind> wait_for_reply(const char* operation) {
        const auto request = begin_request(operation);
        co_await request->answered.wait_until(time_point::max());
        co_return request->reply;
    }
    static void settle(const pending_request& request, std::size_t index, reply_kind reply) {
        request.batch->settle(index,
                              reply == reply_kind::accepted  ? renewal::outcome::extended
                              : reply == reply_kind::refused ? renewal::outcome::refused
                                                             : renewal::outcome::unknown,
                              request.asked_at + ttl - drift(ttl));
    }

    runtime& time_;
    asio::any_io_executor executor_;
    std::deque<std::shared_ptr<pending_request>> requests_;
};

// A request to the keeper, and its result.
struct async_result {
    bool is_over = false;
    std::optional<errc> failed;

    void operator()(const std::exception_ptr& exception) {
        is_over = true;
        try {
            if (exception) std::rethrow_exception(exception);
        } catch (const error& failure) {
            failed = failure.reason();
        } catch (const std::bad_alloc&) {
            failed = errc::exhausted;
        }
    }
};

class KeeperTest : public ::testing::Test {
protected:
    KeeperTest() {
        asio::co_spawn(loop_, keeper_.run(nullptr), asio::detached);
        run_ready();
    }
    ~KeeperTest() override {
        keeper_.stop();
        run_ready();
        // A request keeps the coroutine that waits for its reply.
        while (backend_.has_requests())
            answer_next(reply_kind::no_reply);
    }

    std::shared_ptr<core::lease> keep_lease(const std::string& owner = "owner",
                                            duration max_hold = forever) {
        const claim requested{.name = "it", .owner = owner, .ttl = ttl};
        core::lease_keeper::reservation reservation(
            keeper_, std::make_shared<core::lease>(nullptr, time_, requested, max_hold));
        auto granted = reservation.keep(
            {.deadline = time_.now() + ttl - drift(ttl), .stored_value = "exclusive value"});
        return std::exchange(granted.held_lease, nullptr);
    }
    // Runs every ready handler.
    void run_ready() {
        loop_.restart();
        loop_.poll();
    }
    void advance(duration step) {
        time_.advance(step);
        run_ready();
    }
    void answer_next(reply_kind reply) {
        backend_.answer_next(reply);
        run_ready();
    }
    void settle_in(std::size_t request, std::size_t index, reply_kind reply) {
        backend_.settle_in(request, index, reply);
        run_ready();
    }
    std::shared_ptr<async_result> renew() { return begin(keeper_.renew_now(lease_)); }
    std::shared_ptr<async_result> downgrade() { return begin(keeper_.downgrade(lease_)); }
    std::shared_ptr<async_result> begin(asio::awaitable<void> operation) {
        auto result = std::make_shared<async_result>();
        asio::co_spawn(loop_, std::move(operation),
                       [result](std::exception_ptr exception) { (*result)(exception); });
        run_ready();
        return result;
    }
    [[nodiscard]] std::size_t request_count() const { return backend_.operations.size(); }

    asio::io_context loop_;
    manual_time time_;
    slow_backend backend_{time_, loop_.get_executor()};
    counter renewals_;
    int losses_ = 0;
    std::vector<std::shared_ptr<core::lease>> orphans_;
    std::function<void(const std::shared_ptr<core::lease>&)> on_renewal_;
    core::lease_keeper keeper_{
        time_,
        loop_.get_executor(),
        backend_,
        renewals_,
        {.on_lease_lost = [this](const std::shared_ptr<core::lease>&) { ++losses_; },
         .on_orphan =
             [this](const std::shared_ptr<core::lease>& held_lease) {
                 keeper_.drop(held_lease);
                 orphans_.push_back(held_lease);
             },
         .on_renewal =
             [this](const std::shared_ptr<core::lease>& renewed) {
                 if (on_renewal_) on_renewal_(renewed);
             }}};
    std::shared_ptr<core::lease> lease_ = keep_lease();
};

}  // namespace pawl
