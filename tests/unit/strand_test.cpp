// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backend of an async client runs on the client's strand only, also after a wait.
#include "core/util/wakeup.hpp"
#include "support/idle_backend.hpp"

#include <pawl/blocking.hpp>
#include <pawl/client.hpp>
#include <pawl/service.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Grants every lock, and notes in `release` where it is resumed.
class granting_backend : public support::idle_backend {
public:
    granting_backend(pawl::spi::backend_context context, bool& was_on_strand)
        : context_(std::move(context)), was_on_strand_(was_on_strand) {}

    asio::awaitable<std::optional<pawl::spi::grant>> acquire(const pawl::spi::claim& requested,
                                                             pawl::time_point) override {
        pawl::spi::grant granted;
        granted.deadline = context_.time->now() + requested.ttl;
        co_return granted;
    }

protected:
    pawl::spi::backend_context context_;
    bool& was_on_strand_;
};

// A release waits, as for a connection, and the backend promises to resume on the strand.
class waiting_backend final : public granting_backend {
public:
    using granting_backend::granting_backend;

    asio::awaitable<pawl::release_result> release(const pawl::spi::hold&) override {
        pawl::core::wakeup pause(*context_.time, context_.strand);
        co_await pause.wait_until(context_.time->now() + 1ms);
        const auto* strand =
            context_.strand.target<asio::strand<asio::io_context::executor_type>>();
        was_on_strand_ = strand != nullptr && strand->running_in_this_thread();
        co_return pawl::release_result::released;
    }
    [[nodiscard]] bool resumes_on_strand() const noexcept override { return true; }
};

// A release waits for another thread, as for an I/O object of another context.
class pool_backend final : public granting_backend {
public:
    using granting_backend::granting_backend;

    asio::awaitable<pawl::release_result> release(const pawl::spi::hold&) override {
        std::atomic<std::thread::id> pool_thread{};
        co_await asio::co_spawn(pool_, note_thread(pool_thread), asio::use_awaitable);
        was_on_strand_ = std::this_thread::get_id() != pool_thread.load();
        co_return pawl::release_result::released;
    }

private:
    static asio::awaitable<void> note_thread(std::atomic<std::thread::id>& thread) {
        thread = std::this_thread::get_id();
        co_return;
    }

    asio::thread_pool pool_{1};
};

template <class Backend>
class waiting_service final : public pawl::service::definition {
public:
    explicit waiting_service(bool& was_on_strand) : was_on_strand_(was_on_strand) {}
    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context context) const override {
        return std::make_unique<Backend>(std::move(context), was_on_strand_);
    }
    std::string describe() const override { return "waiting:"; }

private:
    bool& was_on_strand_;
};

template <class Backend>
bool releases_on_strand() {
    bool was_on_strand = false;
    asio::io_context loop;
    pawl::client locks(loop.get_executor(),
                       pawl::service(std::make_shared<waiting_service<Backend>>(was_on_strand)));
    auto result = pawl::release_result::unknown;
    locks.async_acquire("it", {}, [&](boost::system::error_code ec, pawl::held_lock lock) {
        EXPECT_FALSE(ec);
        auto held = std::make_shared<pawl::held_lock>(std::move(lock));
        held->async_release([&loop, &result, held](pawl::release_result outcome) {
            result = outcome;
            loop.stop();
        });
    });
    loop.run_for(10s);
    EXPECT_EQ(result, pawl::release_result::released);
    return was_on_strand;
}

TEST(Strand, ReleaseThatWaits) { EXPECT_TRUE(releases_on_strand<waiting_backend>()); }

// A backend need not promise where Asio resumes it.
TEST(Strand, ReleaseThatWaitsForAnotherThread) { EXPECT_TRUE(releases_on_strand<pool_backend>()); }

TEST(Strand, BlockingReleaseThatWaitsForAnotherThread) {
    bool was_on_loop = false;
    pawl::blocking::client locks(
        pawl::service(std::make_shared<waiting_service<pool_backend>>(was_on_loop)));
    EXPECT_EQ(locks.acquire("it").release(), pawl::release_result::released);
    EXPECT_TRUE(was_on_loop);
}

}  // namespace
