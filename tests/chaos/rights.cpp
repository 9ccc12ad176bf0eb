// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "rights.hpp"

#include <pawl/blocking/election.hpp>
#include <pawl/blocking/latch.hpp>

#include <algorithm>
#include <sstream>

namespace chaos {

namespace {

using support::command_words;

command_words split(const std::string& text) {
    std::istringstream from(text);
    command_words words;
    for (std::string word; from >> word;)
        words.push_back(word);
    return words;
}

}  // namespace

void least_rights::set_user(const command_words& words) {
    (void)server.execute({"ACL", "DELUSER", "locks"});
    command_words command{"ACL", "SETUSER", "locks"};
    command.insert(command.end(), words.begin(), words.end());
    ASSERT_EQ(server.execute(command).text, "OK");
    (void)server.execute({"ACL", "LOG", "RESET"});
    (void)server.execute({"CONFIG", "RESETSTAT"});
}

void least_rights::allow(const pawl::redis::used_features& features,
                         const std::string& url_options) {
    const auto rules = pawl::redis::least_rights(server.url(url_options), features);
    ASSERT_EQ(rules.size(), 1U);
    words_ = split(rules[0].line("locks", "PASSWORD"));
    words_.erase(words_.begin(), words_.begin() + 2);  // "user locks"
    set_user(words_);
}

void least_rights::allow_without(const std::string& word) {
    auto fewer = words_;
    ASSERT_EQ(std::erase(fewer, word), 1U) << word;
    set_user(fewer);
}

command_words least_rights::allowed(const std::string& first_characters) const {
    command_words result;
    for (const auto& each : words_)
        if (first_characters.find(each.front()) != std::string::npos) result.push_back(each);
    return result;
}

bool least_rights::was_refused() { return !server.execute({"ACL", "LOG"}).items.empty(); }

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

command_words least_rights::unused_commands() {
    const auto stats = server.execute({"INFO", "commandstats"}).text;
    command_words unused;
    for (const auto& each : allowed("+"))
        if (stats.find("cmdstat_" + each.substr(1) + ":") == std::string::npos)
            unused.push_back(each);
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
