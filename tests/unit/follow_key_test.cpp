// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Commands about a key that moves between two servers, and a script that a server does not know.
#include "redis/topology/follow_key.hpp"
#include "redis/scripting/run_script.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;

reply text_reply(reply::kind type, std::string text) {
    reply result;
    result.type = type;
    result.text = std::move(text);
    return result;
}

reply error_reply(std::string text) { return text_reply(reply::kind::error, std::move(text)); }

class answering_link final : public link {
public:
    asio::awaitable<reply> exec(std::span<const std::string_view> words, time_point,
                                prelude before) override {
        commands.emplace_back(words.front());
        preludes.push_back(before);
        auto next = replies.empty() ? text_reply(reply::kind::string, "OK") : replies.front();
        if (!replies.empty()) replies.pop_front();
        co_return next;
    }
    const session& current() const noexcept override { return server; }
    bool connected() const noexcept override { return true; }
    asio::awaitable<void> close(time_point) override { co_return; }

    session server;
    std::deque<reply> replies;
    std::vector<std::string> commands;
    std::vector<prelude> preludes;
};

// MOVED means the other server from now on, ASK for one request; LOST cannot be followed.
class two_servers final : public topology {
public:
    link& link_of(std::string_view) const noexcept override { return *owner_; }
    std::span<link* const> links() const noexcept override { return links_; }
    bool may_follow(const reply& received) const noexcept override {
        return received.text == "MOVED" || received.text == "ASK" || received.text == "LOST";
    }
    asio::awaitable<bool> follow(redirection& progress, std::string_view, link&, reply& received,
                                 time_point) override {
        progress.asked_next = received.text == "ASK" ? &target : nullptr;
        if (received.text == "MOVED") owner_ = &target;
        co_return received.text != "LOST";
    }

    answering_link source, target;

private:
    link* owner_ = &source;
    const std::array<link*, 2> links_{&source, &target};
};

asio::awaitable<void> store(asio::awaitable<answer> operation, std::optional<answer>& result) {
    result.emplace(co_await std::move(operation));
}

answer result_of(asio::awaitable<answer> operation) {
    asio::io_context loop;
    std::optional<answer> result;
    asio::co_spawn(loop, store(std::move(operation), result), asio::detached);
    loop.run();
    return result.value();
}

constexpr std::array<std::string_view, 2> get{"GET", "key"};

struct script_of_one_key {
    static constexpr script code{"script", "return 1", "digest"};

    [[nodiscard]] script_call command(const server_words&) const {
        ++compositions;
        return {code, {"key"}, {}};
    }

    mutable int compositions = 0;
};

TEST(FollowKey, TheAnswerNamesTheServerThatHasTheKey) {
    two_servers servers;
    const auto received = result_of(exec_at(servers, "key", get, time_point::max()));
    EXPECT_EQ(received.text, "OK");
    EXPECT_EQ(received.from, &servers.source);
    EXPECT_TRUE(servers.target.commands.empty());
}

TEST(FollowKey, TheAnswerNamesTheServerToWhichTheKeyHasMoved) {
    two_servers servers;
    servers.source.replies = {error_reply("MOVED")};
    const auto received = result_of(exec_at(servers, "key", get, time_point::max()));
    EXPECT_EQ(received.text, "OK");
    EXPECT_EQ(received.from, &servers.target);
    EXPECT_EQ(servers.target.preludes, std::vector{prelude::none});
}

TEST(FollowKey, AServerThatWasNamedForOneRequestIsAskedWithThePrelude) {
    two_servers servers;
    servers.source.replies = {error_reply("ASK")};
    const auto received = result_of(exec_at(servers, "key", get, time_point::max()));
    EXPECT_EQ(received.from, &servers.target);
    EXPECT_EQ(servers.target.preludes, std::vector{prelude::ask});
}

TEST(FollowKey, ARefusalThatCannotBeFollowedIsTheAnswer) {
    two_servers servers;
    servers.source.replies = {error_reply("LOST")};
    const auto received = result_of(exec_at(servers, "key", get, time_point::max()));
    EXPECT_EQ(received.text, "LOST");
    EXPECT_EQ(received.from, &servers.source);
}

TEST(FollowKey, AScriptIsComposedForEachServerAndSentByItsTextWhereItIsUnknown) {
    two_servers servers;
    servers.source.replies = {error_reply("MOVED")};
    servers.target.replies = {error_reply("NOSCRIPT No matching script.")};
    const script_of_one_key call;
    const auto received =
        result_of(run_script(servers, "key", call, session_words, time_point::max()));
    EXPECT_EQ(received.text, "OK");
    EXPECT_EQ(received.from, &servers.target);
    EXPECT_EQ(servers.source.commands, (std::vector<std::string>{"EVALSHA"}));
    EXPECT_EQ(servers.target.commands, (std::vector<std::string>{"EVALSHA", "EVAL"}));
    EXPECT_EQ(call.compositions, 3);
}

TEST(FollowKey, ATextThatIsUnknownIsNotSentAgain) {
    two_servers servers;
    servers.source.replies = {error_reply("NOSCRIPT No matching script."),
                              error_reply("NOSCRIPT Odd.")};
    const script_of_one_key call;
    const auto received =
        result_of(run_script(servers, "key", call, session_words, time_point::max()));
    EXPECT_EQ(received.text, "NOSCRIPT Odd.");
    EXPECT_EQ(servers.source.commands, (std::vector<std::string>{"EVALSHA", "EVAL"}));
}

}  // namespace
}  // namespace pawl::redis
