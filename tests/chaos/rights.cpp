#include "rights.hpp"

#include <pawl/blocking_election.hpp>
#include <pawl/blocking_latch.hpp>

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

least_rights::least_rights(std::string page, support::redis_plan plan)
    : scene(std::move(plan)), text_(text_of(page)), lines_(lines_of(text_)) {}

void least_rights::allow(const std::vector<std::size_t>& which, const command_words& more) {
    (void)server.ask({"ACL", "DELUSER", "locks"});
    auto words = lines_.at(0);
    for (const auto each : which)
        words.insert(words.end(), lines_.at(each).begin(), lines_.at(each).end());
    words.insert(words.end(), more.begin(), more.end());
    ASSERT_EQ(server.ask(words).text, "OK");
    (void)server.ask({"ACL", "LOG", "RESET"});
    (void)server.ask({"CONFIG", "RESETSTAT"});
}

void least_rights::allow_all(const command_words& more) {
    std::vector<std::size_t> all;
    for (std::size_t i = 1; i < lines_.size(); ++i)
        all.push_back(i);
    allow(all, more);
}

command_words least_rights::also(const std::string& first) const {
    const auto begin = text_.find("`" + first) + 1;
    if (begin == 0) throw std::runtime_error("the page does not speak of " + first);
    return split(text_.substr(begin, text_.find('`', begin) - begin));
}

client least_rights::user(const std::string& options) {
    const auto url = server.url(options);
    return at("redis://locks:PASSWORD@" + url.substr(url.find("//") + 2));
}

void least_rights::expect_nothing_refused() {
    for (const auto& entry : server.ask({"ACL", "LOG"}).items) {
        std::string words;
        for (const auto& each : entry.items)
            words += each.text + " ";
        ADD_FAILURE() << words;
    }
}

std::vector<std::string> least_rights::in_vain() {
    const auto stats = server.ask({"INFO", "commandstats"}).text;
    std::vector<std::string> unused;
    for (const auto& line : lines_) {
        for (const auto& word : line) {
            const bool used = stats.find("cmdstat_" + word.substr(1) + ":") != std::string::npos;
            if (word.front() == '+' && !used) unused.push_back(word);
        }
    }
    return unused;
}

void least_rights::pass_on(client& one, client& two, pawl::lock_options how,
                           const std::function<bool()>& waits) {
    how.ttl = long_ttl;
    how.wait = patience;
    auto lock = one.acquire("it", how);
    lock.renew();
    held_lock next;
    std::optional<failure> what;
    beside waiting([&] { what = failure_of([&] { next = two.acquire("it", how); }); });
    EXPECT_TRUE(eventually(waits));
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    ASSERT_FALSE(what.has_value()) << what;
    EXPECT_EQ(next.release(), release_result::released);
}

void least_rights::give_up(client& one, client& two, pawl::lock_options how) {
    how.ttl = long_ttl;
    auto lock = one.acquire("it", how);
    how.wait = 100ms;
    const auto what = failure_of([&] { (void)two.acquire("it", how); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::timed_out) << what;
    EXPECT_EQ(lock.release(), release_result::released);
}

std::function<bool()> least_rights::seen_waiting(client& by, std::uint64_t count) {
    return [&by, count] { return by.inspect("it").waiters == count; };
}

void least_rights::count_down(client& one, client& two, client& eyes) {
    pawl::blocking::latch mine(one, "done"), other(two, "done"), seen(eyes, "done");
    ASSERT_TRUE(mine.try_set(2));
    beside waiting([&] { EXPECT_TRUE(other.wait_for(patience)); });
    EXPECT_TRUE(eventually([&] { return seen.inspect().waiters == 1; }));
    mine.count_down();
    mine.count_down();
    waiting.join();
    ASSERT_TRUE(mine.try_set(1));
    EXPECT_TRUE(other.reset());
}

void least_rights::lead(client& one, client& two) {
    pawl::blocking::election mine(one, "leader", {.ttl = long_ttl}), other(two, "leader");
    auto term = mine.campaign();
    const auto seen = other.leader();
    ASSERT_TRUE(seen.held_by.has_value());
    EXPECT_EQ(seen.held_by->token, term.token());
    EXPECT_EQ(term.release(), release_result::released);
    EXPECT_FALSE(other.wait_change(seen.held_by->token, 10ms).held_by.has_value());
}

void least_rights::look_around(client& locks) {
    auto lock = locks.acquire("listed", {.ttl = long_ttl});
    EXPECT_EQ(locks.list("lis").size(), 1U);
    EXPECT_TRUE(locks.force_release("listed"));
    for (const auto& each : locks.examine().findings)
        EXPECT_EQ(each.fact.find("not readable"), std::string::npos) << each.topic;
}

}  // namespace chaos
