// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The wait for replicas over a link whose connection changes at the worst moment. WAIT counts the
// writes of its own connection: after a change it would confirm a write that no replica has.
#include <redis/common/acknowledgements.hpp>
#include <redis/topology/follow_key.hpp>
#include <redis/topology/single_server.hpp>

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using outcome = renewal::outcome;

reply integer(std::int64_t number) {
    reply result;
    result.type = reply::kind::integer;
    result.number = number;
    return result;
}

reply refusal(const std::string& words) {
    reply result;
    result.type = reply::kind::error;
    result.text = words;
    return result;
}

// Answers WAIT with the next of `answers`, the last one again and again.
class scripted_link final : public link {
public:
    asio::awaitable<reply> exec(std::span<const std::string_view> words, time_point,
                                prelude) override {
        requests.emplace_back(words[0]);
        if (words[0] == "PING") {
            is_connected = true;
            co_return reply{};
        }
        if (words[0] == "SET") co_return answer_to_write;
        limits_ms.push_back(std::stol(std::string(words.back())));
        const auto next = answers.front();
        if (answers.size() > 1) answers.pop_front();
        co_return next();
    }
    void reconnect() { ++session_.connection_number; }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return is_connected; }
    std::string server_name() const override { return "server"; }
    asio::awaitable<void> close(time_point) override { co_return; }

    std::deque<std::function<reply()>> answers{[] { return integer(1); }};
    reply answer_to_write = integer(1);
    std::vector<std::string> requests;
    std::vector<long> limits_ms;
    bool is_connected = true;

private:
    session session_{.connection_number = 1, .run_id = {}, .version = {}, .server = {}};
};

// Two servers. The key is at the first one, until a request is refused there.
class moving_key final : public topology {
public:
    moving_key(std::shared_ptr<scripted_link> first, std::shared_ptr<scripted_link> second)
        : servers_{std::move(first), std::move(second)} {}

    link& link_of(std::string_view) const noexcept override { return *links_[owner_]; }
    std::span<link* const> links() const noexcept override { return links_; }
    bool may_follow(const reply& refusal) const noexcept override {
        return refusal.text.starts_with("MOVED");
    }
    asio::awaitable<bool> follow(redirection&, std::string_view, link&, reply&,
                                 time_point) override {
        owner_ = 1;
        co_return true;
    }

private:
    const std::array<std::shared_ptr<scripted_link>, 2> servers_;
    const std::array<link*, 2> links_{servers_[0].get(), servers_[1].get()};
    std::size_t owner_ = 0;
};

class Acknowledgements : public ::testing::Test {
protected:
    Acknowledgements() {
        context_.strand = asio::make_strand(loop_);
        context_.time = &real_runtime();
        bounds_.first_pause = bounds_.longest_pause = 1ms;
        make_for(
            single_server_factory([this](link::listener&, const std::string&) { return server; }));
    }
    void make_for(const topology_factory& connect) {
        tested_ = std::make_unique<acknowledgements>(connect, context_, bounds_);
    }

    // What `write` does, and its outcome; `extended` once the script is empty.
    asio::awaitable<outcome> write(topology& servers) {
        if (writes_commands) {
            const std::array<std::string_view, 3> words{"SET", "key", "value"};
            const auto answer = co_await exec_at(servers, "key", words, context_.time->now() + 30s);
            co_return answer.type == reply::kind::error ? outcome::unknown : outcome::extended;
        }
        server->requests.emplace_back("write");
        if (writes.empty()) co_return outcome::extended;
        const auto next = writes.front();
        writes.pop_front();
        co_return next();
    }
    std::optional<error> wait(durability wanted = durability::replicas(1), duration limit = 30s) {
        const acknowledgements::request requested{
            .key = "key",
            .subject = "The lock 'it'",
            .wanted = wanted,
            .give_up_at = context_.time->now() + limit,
            .write = [this](topology& servers) { return write(servers); }};
        auto done = asio::co_spawn(context_.strand, tested_->wait(requested), asio::use_future);
        loop_.run_for(60s);
        loop_.restart();
        try {
            done.get();
        } catch (const error& e) {
            return e;
        }
        return std::nullopt;
    }

    std::shared_ptr<scripted_link> server = std::make_shared<scripted_link>();
    std::deque<std::function<outcome()>> writes;
    bool writes_commands = false;  // `write` sends a command in place of `writes`

private:
    asio::io_context loop_;
    backend_context context_;
    limits bounds_;
    std::unique_ptr<acknowledgements> tested_;
};

TEST_F(Acknowledgements, WriteComesBeforeTheWait) {
    EXPECT_FALSE(wait());
    EXPECT_THAT(server->requests, ElementsAre("write", "WAIT"));
}

//   the write is answered | the connection ends, and another one is made | no WAIT yet: the new
//   connection has written nothing
TEST_F(Acknowledgements, AreNotAskedForOverAnotherConnectionThanTheWrite) {
    writes.emplace_back([this] {
        server->reconnect();
        return outcome::extended;
    });
    EXPECT_FALSE(wait());
    EXPECT_THAT(server->requests, ElementsAre("write", "write", "WAIT"));
}

//   write, WAIT: too few | the connection changes | write again before the next WAIT
TEST_F(Acknowledgements, AreAskedForAgainOnlyAfterAnotherWrite) {
    server->answers = {[this] {
                           server->reconnect();
                           return integer(0);
                       },
                       [] { return integer(1); }};
    EXPECT_FALSE(wait());
    EXPECT_THAT(server->requests, ElementsAre("write", "WAIT", "write", "WAIT"));
}

TEST_F(Acknowledgements, AreAskedForAgainOverTheSameConnectionWithoutAWrite) {
    server->answers = {[] { return integer(1); }, [] { return integer(2); }};
    EXPECT_FALSE(wait(durability::replicas(2)));
    EXPECT_THAT(server->requests, ElementsAre("write", "WAIT", "WAIT"));
}

//   WAIT is sent | the connection is lost | connected again: write, WAIT
TEST_F(Acknowledgements, BeginAnewAfterALostReply) {
    server->answers = {[this]() -> reply {
                           server->reconnect();
                           server->is_connected = false;
                           throw connection_lost("the connection was closed");
                       },
                       [] { return integer(1); }};
    EXPECT_FALSE(wait());
    EXPECT_THAT(server->requests, ElementsAre("write", "WAIT", "PING", "write", "WAIT"));
}

TEST_F(Acknowledgements, BeginAnewAfterTheServerBecameAReplica) {
    server->answers = {[] {
                           return refusal(
                               "UNBLOCKED force unblock from blocking operation, instance state "
                               "changed (master -> replica?)");
                       },
                       [] { return refusal("ERR WAIT cannot be used with replica instances."); },
                       [] { return integer(1); }};
    EXPECT_FALSE(wait());
    EXPECT_THAT(server->requests, ElementsAre("write", "WAIT", "write", "WAIT", "write", "WAIT"));
}

TEST_F(Acknowledgements, AreNotAskedForWithoutAConfirmedWrite) {
    writes.emplace_back([] { return outcome::unknown; });
    EXPECT_FALSE(wait());
    EXPECT_THAT(server->requests, ElementsAre("write", "write", "WAIT"));
}

TEST_F(Acknowledgements, OfAHoldThatHasEndedAreALoss) {
    writes.emplace_back([] { return outcome::refused; });
    const auto failed = wait();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason(), errc::lost);
    EXPECT_THAT(server->requests, ElementsAre("write"));
}

//   A has the key, B gets it | write at A: MOVED | the write must not be executed at B and be
//   confirmed by A, whose replicas have everything that A wrote | write at B, WAIT at B
TEST_F(Acknowledgements, ComeFromTheServerThatHasWritten) {
    const auto other = std::make_shared<scripted_link>();
    server->answer_to_write = refusal("MOVED 12 10.0.0.2:6379");
    make_for([&](link::listener&, const std::string&) {
        return std::make_shared<moving_key>(server, other);
    });
    writes_commands = true;
    EXPECT_FALSE(wait());
    EXPECT_THAT(server->requests, ElementsAre("SET"));
    EXPECT_THAT(other->requests, ElementsAre("SET", "WAIT"));
}

// No limit of a WAIT is 0, which would mean none, and none is longer than a turn.
TEST_F(Acknowledgements, ThatNeverComeEndInTime) {
    server->answers = {[] { return integer(1); }};
    const auto failed = wait(durability::replicas(2), 350ms);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason(), errc::not_durable);
    EXPECT_THAT(failed->what(), HasSubstr("only 1 of 2 replicas acknowledged it in time"));
    EXPECT_THAT(server->limits_ms,
                ::testing::Each(::testing::AllOf(::testing::Ge(1), ::testing::Le(100))));
    // A server that answers at once is not asked in a tight loop.
    EXPECT_LE(server->limits_ms.size(), 4U);
}

TEST_F(Acknowledgements, WithoutAnAnswerNameTheReason) {
    server->answers = {[]() -> reply { throw connection_lost("the connection was closed"); }};
    const auto failed = wait(durability::replicas(1), 50ms);
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason(), errc::not_durable);
    EXPECT_THAT(failed->what(), HasSubstr("the connection was closed"));
}

TEST_F(Acknowledgements, OfAnUnknownFormAreAnError) {
    server->answers = {[] { return reply{}; }};
    const auto failed = wait();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason(), errc::protocol);
}

TEST_F(Acknowledgements, OfADiskCountTheServersOwnFileOnly) {
    const auto pair_of = [](std::int64_t own, std::int64_t replicas) {
        reply result;
        result.type = reply::kind::array;
        result.items = {integer(own), integer(replicas)};
        return result;
    };
    server->answers = {[=] { return pair_of(0, 3); }, [=] { return pair_of(1, 0); }};
    EXPECT_FALSE(wait(durability::disk));
    EXPECT_THAT(server->requests, ElementsAre("write", "WAITAOF", "WAITAOF"));
}

TEST_F(Acknowledgements, ThatTheServerRefusesSayWhatToDo) {
    const std::vector<std::pair<std::string, errc>> refusals{
        {"ERR unknown command 'WAIT', with args beginning with: '1' '100' ", errc::unsupported},
        {"ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
         errc::unsupported},
        {"NOPERM User app has no permissions to run the 'wait' command", errc::refused}};
    for (const auto& [words, reason] : refusals) {
        server->answers = {[words = words] { return refusal(words); }};
        const auto failed = wait();
        ASSERT_TRUE(failed) << words;
        EXPECT_EQ(failed->reason(), reason) << failed->what();
    }
}

}  // namespace
}  // namespace pawl::redis
