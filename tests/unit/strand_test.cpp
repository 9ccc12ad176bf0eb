// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backend of an async client runs on the client's strand only, also after a wait.
#include "core/util/wakeup.hpp"
#include "support/idle_backend.hpp"

#include <pawl/client.hpp>
#include <pawl/service.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Grants every lock. A release waits, as for a connection.
class waiting_backend final : public support::idle_backend {
public:
    waiting_backend(pawl::backend_context context, bool& was_on_strand)
        : context_(std::move(context)), was_on_strand_(was_on_strand) {}

    asio::awaitable<std::optional<pawl::grant>> acquire(const pawl::claim& requested,
                                                        pawl::time_point) override {
        pawl::grant granted;
        granted.deadline = context_.time->now() + requested.ttl;
        co_return granted;
    }
    asio::awaitable<pawl::release_result> release(const pawl::hold&) override {
        pawl::core::wakeup pause(*context_.time, context_.strand);
        co_await pause.wait_until(context_.time->now() + 1ms);
        const auto* strand =
            context_.strand.target<asio::strand<asio::io_context::executor_type>>();
        was_on_strand_ = strand != nullptr && strand->running_in_this_thread();
        co_return pawl::release_result::released;
    }

private:
    pawl::backend_context context_;
    bool& was_on_strand_;
};

class waiting_service final : public pawl::service::definition {
public:
    explicit waiting_service(bool& was_on_strand) : was_on_strand_(was_on_strand) {}
    std::unique_ptr<pawl::backend> open(pawl::backend_context context) const override {
        return std::make_unique<waiting_backend>(std::move(context), was_on_strand_);
    }
    std::string describe() const override { return "waiting:"; }

private:
    bool& was_on_strand_;
};

TEST(Strand, ReleaseThatWaits) {
    bool was_on_strand = false;
    asio::io_context loop;
    pawl::client locks(loop.get_executor(),
                       pawl::service(std::make_shared<waiting_service>(was_on_strand)));
    auto result = pawl::release_result::unknown;
    locks.async_acquire("it", {}, [&](boost::system::error_code ec, pawl::held_lock lock) {
        ASSERT_FALSE(ec);
        auto held = std::make_shared<pawl::held_lock>(std::move(lock));
        held->async_release([&loop, &result, held](pawl::release_result outcome) {
            result = outcome;
            loop.stop();
        });
    });
    loop.run_for(10s);
    EXPECT_EQ(result, pawl::release_result::released);
    EXPECT_TRUE(was_on_strand);
}

}  // namespace
