// A client that closes while a wait does not end: one drain time is all that it may take.
#include "idle_backend.hpp"
#include "virtual_runtime.hpp"

#include <core/alarm.hpp>
#include <pawl/client.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/this_coro.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// Its answers come late, and nobody can call them off; what it has begun is never done.
class deaf_backend final : public idle_backend {
public:
    deaf_backend(backend_context context, std::vector<time_point>& deadlines)
        : context_(std::move(context)), deadlines_(deadlines) {}
    asio::awaitable<std::optional<grant>> acquire(const claim&, time_point) override {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        core::alarm answer(*context_.time, context_.strand);
        co_await answer.wait_until(context_.time->now() + 1h);
        co_return std::nullopt;
    }
    asio::awaitable<void> close(time_point give_up_at) override {
        deadlines_.push_back(give_up_at);
        core::alarm done(*context_.time, context_.strand);
        co_await done.wait_until(give_up_at);
    }

private:
    const backend_context context_;
    std::vector<time_point>& deadlines_;
};

class deaf_service final : public service::definition {
public:
    explicit deaf_service(std::vector<time_point>& deadlines) : deadlines_(deadlines) {}
    std::unique_ptr<backend> open(backend_context context) const override {
        return std::make_unique<deaf_backend>(std::move(context), deadlines_);
    }
    std::string describe() const override { return "deaf"; }

private:
    std::vector<time_point>& deadlines_;
};

//   A waits | A closes: the wait takes the whole drain time | the backend has none left
TEST(Closing, TakesTheDrainTimeOnce) {
    scheduler world;
    process home(world, time_point(1h), 1.0);
    virtual_runtime time(home, prng(1));
    std::vector<time_point> deadlines;
    const client_options options{.drain = 3s, .time = &time};
    {
        client locks(home.get_executor(), service(std::make_shared<deaf_service>(deadlines)),
                     options);
        locks.async_acquire("it", {}, [](const boost::system::error_code&, const held_lock&) {});
        world.run_ready();
        const auto begun = time.now();
        bool closed = false;
        locks.async_close(asio::bind_executor(home.get_executor(), [&] { closed = true; }));
        while (!closed && world.step()) {}
        EXPECT_EQ(deadlines, std::vector{begun + 3s});
        EXPECT_LE(time.now() - begun, 3s + 2ms);
    }
    while (world.step()) {}  // the backend's hour ends, and what waits in it
}

}  // namespace
}  // namespace pawl::simulation
