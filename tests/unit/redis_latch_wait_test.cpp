// A wait for a latch at a server that refuses: its pauses are those of the client's bounds.
#include <redis/backend.hpp>
#include <redis/redisson/backend.hpp>

#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class loading_link final : public link {
public:
    explicit loading_link(int& looks) : looks_(looks) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> words, time_point) override {
        if (words[0] == "EVALSHA" || words[0] == "GET") ++looks_;
        reply answer;
        answer.what = reply::kind::error;
        answer.text = "LOADING Redis is loading the dataset in memory";
        co_return answer;
    }
    asio::awaitable<void> subscribe(std::string, time_point) override { co_return; }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return true; }
    asio::awaitable<void> close(time_point) override { co_return; }

private:
    int& looks_;
    session session_;
};

class LatchWait : public testing::TestWithParam<bool> {};

TEST_P(LatchWait, PausesAsTheBoundsSay) {
    int looks = 0;
    asio::io_context loop;
    backend_context context;
    context.strand = asio::make_strand(loop);
    context.time = &real_runtime();
    const link_factory connect = [&](link::listener&, const std::string&) {
        return std::make_unique<loading_link>(looks);
    };
    const options where;
    limits bounds;
    bounds.first_pause = bounds.longest_pause = 2h;
    const auto made = GetParam() ? redisson::make_backend(where, context, connect, bounds)
                                 : make_backend(where, context, connect, bounds);
    auto waited =
        asio::co_spawn(context.strand, made->counted()->wait("it", 1, real_runtime().now() + 700ms),
                       asio::use_future);
    loop.run();
    std::optional<errc> failed;
    try {
        (void)waited.get();
    } catch (const error& e) {
        failed = e.reason();
    }
    EXPECT_EQ(failed, errc::unavailable);
    EXPECT_EQ(looks, 2) << "at the beginning and at the end";
}

INSTANTIATE_TEST_SUITE_P(OfBothLayouts, LatchWait, testing::Bool());

}  // namespace
}  // namespace pawl::redis
