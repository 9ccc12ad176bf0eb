// A client that closes while the server refuses what it gives back: the drain time is all that it
// takes, however long the pauses between the attempts are.
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
#include <string>
#include <tuple>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Refuses all, or loses it.
class useless_link final : public link {
public:
    explicit useless_link(bool loses) : loses_(loses) {}

    asio::awaitable<reply> exec(std::span<const std::string_view>, time_point) override {
        if (loses_) throw connection_lost("the connection was closed");
        reply answer;
        answer.what = reply::kind::error;
        answer.text = "READONLY You can't write against a read only replica.";
        co_return answer;
    }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return true; }
    asio::awaitable<void> close(time_point) override { co_return; }

private:
    const bool loses_;
    session session_;
};

class Closing : public testing::TestWithParam<std::tuple<bool, bool>> {};

//   A gives a lock back | the server refuses it, or the answer is lost | A pauses before it says so
//   again, for an hour | A closes
TEST_P(Closing, EndsThePausesOfReleases) {
    const auto [redissons, loses] = GetParam();
    asio::io_context loop;
    backend_context context;
    context.strand = asio::make_strand(loop);
    context.time = &real_runtime();
    const link_factory connect = [lost = loses](link::listener&, const std::string&) {
        return std::make_unique<useless_link>(lost);
    };
    options where;
    where.reply_timeout = 2h;
    limits bounds;
    bounds.first_pause = bounds.longest_pause = 2h;
    const auto made = redissons ? redisson::make_backend(where, context, connect, bounds)
                                : make_backend(where, context, connect, bounds);
    hold mine;
    mine.claim.name = "it";
    mine.claim.owner = "0123456789abcdef0123456789abcdef";
    mine.claim.ttl = 10h;
    mine.grant.deadline = real_runtime().now() + 10h;
    mine.grant.proof = "0123456789abcdef0123456789abcdef:1";
    auto released = asio::co_spawn(context.strand, made->release(mine), asio::use_future);
    loop.poll();
    auto closed =
        asio::co_spawn(context.strand, made->close(context.time->now()), asio::use_future);
    loop.run_for(30s);
    ASSERT_TRUE(loop.stopped()) << "it still pauses";
    closed.get();
    EXPECT_EQ(released.get(), release_result::unknown);
}

INSTANTIATE_TEST_SUITE_P(OfBothLayouts, Closing,
                         testing::Combine(testing::Bool(), testing::Bool()));

}  // namespace
}  // namespace pawl::redis
