// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "rights.hpp"

#include <pawl/blocking/election.hpp>
#include <pawl/blocking/latch.hpp>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace chaos {

namespace {

using support::command_words;

std::string text_of(const std::string& page) {
    std::ostringstream text;
    text << std::ifstream(PAWL_SOURCE_DIR "/docs/" + page).rdbuf();
    return text.str();
}

command_words split(const std::string& text) {
    std::istringstream from(text);
    command_words words;
    for (std::string word; from >> word;)
        words.push_back(word);
    return words;
}

std::vector<command_words> lines_of(const std::string& text) {
    const auto begin = text.find("\nACL SETUSER ");
    if (begin == std::string::npos) throw std::runtime_error("the page has no ACL SETUSER");
    std::istringstream from(text.substr(begin + 1, text.find("\n```", begin) - begin));
    std::vector<command_words> lines;
    for (std::string line; std::getline(from, line);)
        lines.push_back(split(line));
    return lines;
}

}  // namespace

least_rights::least_rights(std::string page, support::redis_options server_options)
    : redis_fixture(std::move(server_options)), text_(text_of(page)), lines_(lines_of(text_)) {}

void least_rights::allow(const std::vector<std::size_t>& line_numbers,
                         const command_words& extra_rights) {
    (void)server.execute({"ACL", "DELUSER", "locks"});
    auto words = lines_.at(0);
    for (const auto each : line_numbers)
        words.insert(words.end(), lines_.at(each).begin(), lines_.at(each).end());
    words.insert(words.end(), extra_rights.begin(), extra_rights.end());
    ASSERT_EQ(server.execute(words).text, "OK");
    (void)server.execute({"ACL", "LOG", "RESET"});
    (void)server.execute({"CONFIG", "RESETSTAT"});
}

void least_rights::allow_all(const command_words& extra_rights) {
    std::vector<std::size_t> all;
    for (std::size_t i = 1; i < lines_.size(); ++i)
        all.push_back(i);
    allow(all, extra_rights);
}

command_words least_rights::sentence_rights(const std::string& first) const {
    const auto begin = text_.find("`" + first) + 1;
    if (begin == 0) throw std::runtime_error("the page does not mention " + first);
    return split(text_.substr(begin, text_.find('`', begin) - begin));
}

client least_rights::user_client(const std::string& options) {
    const auto url = server.url(options);
    return client_at("redis://locks:PASSWORD@" + url.substr(url.find("//") + 2));
}

void least_rights::expect_nothing_refused() {
    for (const auto& entry : server.execute({"ACL", "LOG"}).items) {
        std::string words;
        for (const auto& each : entry.items)
            words += each.text + " ";
        ADD_FAILURE() << words;
    }
}

std::vector<std::string> least_rights::unused_rights() {
    const auto stats = server.execute({"INFO", "commandstats"}).text;
    std::vector<std::string> unused;
    for (const auto& line : lines_) {
        for (const auto& word : line) {
            const bool used = stats.find("cmdstat_" + word.substr(1) + ":") != std::string::npos;
            if (word.front() == '+' && !used) unused.push_back(word);
        }
    }
    return unused;
}

void least_rights::exercise_handoff(client& first, client& second, pawl::lock_options options,
                                    const std::function<bool()>& waits) {
    options.ttl = long_ttl;
    options.wait = patience;
    auto lock = first.acquire("it", options);
    lock.renew();
    held_lock next;
    std::optional<failure> failed;
    background_task waiting(
        [&] { failed = failure_of([&] { next = second.acquire("it", options); }); });
    EXPECT_TRUE(eventually(waits));
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    ASSERT_FALSE(failed.has_value()) << failed;
    EXPECT_EQ(next.release(), release_result::released);
}

void least_rights::exercise_timeout(client& first, client& second, pawl::lock_options options) {
    options.ttl = long_ttl;
    auto lock = first.acquire("it", options);
    options.wait = 100ms;
    const auto failed = failure_of([&] { (void)second.acquire("it", options); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::timed_out) << failed;
    EXPECT_EQ(lock.release(), release_result::released);
}

std::function<bool()> least_rights::waiter_condition(client& observer, std::uint64_t count) {
    return [&observer, count] { return observer.inspect("it").waiters == count; };
}

void least_rights::exercise_latch(client& first, client& second, client& observer) {
    pawl::blocking::latch own_latch(first, "done"), other(second, "done"),
        observed_latch(observer, "done");
    ASSERT_TRUE(own_latch.try_set(2));
    background_task waiting([&] { EXPECT_TRUE(other.wait_for(patience)); });
    EXPECT_TRUE(eventually([&] { return observed_latch.inspect().waiters == 1; }));
    own_latch.count_down();
    own_latch.count_down();
    waiting.join();
    ASSERT_TRUE(own_latch.try_set(1));
    EXPECT_TRUE(other.reset());
}

void least_rights::exercise_election(client& first, client& second) {
    pawl::blocking::election own_election(first, "leader", {.ttl = long_ttl}),
        other(second, "leader");
    auto term = own_election.campaign();
    const auto info = other.leader();
    ASSERT_TRUE(info.held_by.has_value());
    EXPECT_EQ(info.held_by->token, term.token());
    EXPECT_EQ(term.release(), release_result::released);
    EXPECT_FALSE(other.wait_change(info.held_by->token, 10ms).held_by.has_value());
}

void least_rights::exercise_inspection(client& locks) {
    auto lock = locks.acquire("listed", {.ttl = long_ttl});
    EXPECT_EQ(locks.list("lis").size(), 1U);
    EXPECT_TRUE(locks.force_release("listed"));
    for (const auto& each : locks.examine().findings)
        EXPECT_EQ(each.fact.find("not readable"), std::string::npos) << each.topic;
}

}  // namespace chaos
