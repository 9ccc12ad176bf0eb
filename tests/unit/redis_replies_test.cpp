// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the Redis scripts: each has the keys and arguments of its script's contract line,
// and refuses every reply that breaks the contract.
#include <redis/native/calls/acquire_calls.hpp>
#include <redis/native/calls/admin_calls.hpp>
#include <redis/native/calls/latch_calls.hpp>
#include <redis/native/calls/release_calls.hpp>
#include <redis/redisson/calls.hpp>
#include <redis/scripting/failed_command.hpp>

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace pawl::redis::native {
namespace {

reply integer(std::int64_t number) {
    reply result;
    result.type = reply::kind::integer;
    result.number = number;
    return result;
}

reply text(std::string value) {
    reply result;
    result.type = reply::kind::string;
    result.text = std::move(value);
    return result;
}

reply list(std::vector<reply> items) {
    reply result;
    result.type = reply::kind::array;
    result.items = std::move(items);
    return result;
}

reply failure() {
    reply result;
    result.type = reply::kind::error;
    result.text = "ERR in an item";
    return result;
}

// The words of a script's contract, without what stands in parentheses.
struct contract {
    std::vector<std::string> keys, arguments;
};

std::vector<std::string> words_after(const std::string& header, const std::string& mark) {
    const auto begin = header.find(mark + " ");
    if (begin == std::string::npos) return {};
    const auto end = std::min(header.find("ARGV", begin + mark.size()), header.find("->", begin));
    std::istringstream rest(header.substr(begin + mark.size(), end - begin - mark.size()));
    std::vector<std::string> words;
    for (std::string word; rest >> word;) {
        if (word == "for") break;  // "for each"
        words.push_back(word);
    }
    return words;
}

contract contract_of(const std::string& layout, std::string_view script) {
    std::ifstream file(PAWL_SOURCE_DIR "/src/redis/" + layout + "/scripts/" + std::string(script) +
                       ".lua");
    EXPECT_TRUE(file.is_open()) << script;
    std::string header;
    for (std::string line; std::getline(file, line) && (line.empty() || line.starts_with("--"));)
        if (!line.empty() && !line.starts_with("--@")) header += line.substr(2);
    header = std::regex_replace(header, std::regex(R"(\([^)]*\))"), "");
    return {words_after(header, "KEYS"), words_after(header, "ARGV")};
}

// For a script of several locks: `each` locks with words of their own, after `once` arguments that
// all share.
const server_words sent_to{"PUBLISH", "NUMSUB", "ch:", short_text("1 1"), short_text("run")};

template <class Call>
void expect_contract(const std::string& layout, const Call& call, std::size_t each = 1,
                     std::size_t once = 0) {
    const auto command = call.command(sent_to);
    const auto words = contract_of(layout, command.code().name);
    EXPECT_EQ(command.keys().size(), words.keys.size() * each) << command.code().name;
    EXPECT_EQ(command.arguments().size(), once + (words.arguments.size() - once) * each)
        << command.code().name;
}

template <class Call>
void expect_refused(const Call& call, const reply& wrong, const std::string& shape) {
    try {
        (void)call.read(wrong);
        ADD_FAILURE() << call.command(sent_to).code().name << " accepts " << shape;
    } catch (const error& e) {
        EXPECT_EQ(e.reason(), errc::protocol) << shape;
        EXPECT_NE(std::string(e.what()).find(call.command(sent_to).code().name), std::string::npos)
            << e.what();
    }
}

// Another type, another number of items, and each item of another type.
template <class Call>
void expect_strict(const Call& call, const reply& valid) {
    EXPECT_NO_THROW((void)call.read(valid)) << call.command(sent_to).code().name;
    expect_refused(call, integer(99), "99");
    expect_refused(call, text("wrong"), "a string");
    expect_refused(call, failure(), "an error");
    if (valid.type != reply::kind::array) return;
    expect_refused(call, list({}), "an empty list");
    auto longer = valid;
    longer.items.push_back(list({}));
    expect_refused(call, longer, "one item more");
    for (std::size_t i = 0; i < valid.items.size(); ++i) {
        auto other = valid;
        other.items[i] = failure();
        expect_refused(call, other, "an error as item " + std::to_string(i));
    }
    auto shorter = valid;
    shorter.items.pop_back();
    expect_refused(call, shorter, "one item less");
}

const keys it("lock", "lock");

acquire_call waiting_acquire() {
    return {it, "value", "1000", true, "client:owner", "prefix", "500", "1900"};
}

TEST(RedisReplies, OfAcquires) {
    const auto call = waiting_acquire();
    expect_contract("native", call);
    const auto queued = list({integer(0), integer(100), text("1700000000000"), integer(2)});
    expect_strict(call, queued);
    const auto granted = text("7");
    expect_strict(call, granted);
    EXPECT_TRUE(call.read(granted).granted);
    EXPECT_EQ(call.read(granted).token, fencing_token(7));
    EXPECT_EQ(call.read(queued).queued->rank, 2);
    expect_refused(call, list({integer(0), integer(100), text("1"), integer(-1)}), "rank -1");
    expect_refused(call, text("-7"), "token -7");
    expect_refused(call, text("9223372036854775808"), "a token of 64 bits");
    expect_refused(call, list({integer(1), text("7")}), "a list with a token");
    expect_refused(call, list({integer(2), integer(3)}), "a refusal of permits");
    expect_refused(call, list({integer(0), integer(100)}), "no place for a waiter");

    const acquire_any_mode_call any{call, "p3", "5"};
    expect_contract("native", any);
    expect_strict(any, queued);
    expect_strict(any, list({integer(2), integer(3)}));
    EXPECT_EQ(any.read(list({integer(3), integer(8)})).refusal, permits_refusal::other_total);
    EXPECT_EQ(any.read(list({integer(4)})).refusal, permits_refusal::no_total);
    expect_refused(any, list({integer(2), integer(4294967296)}), "a total of 33 bits");
    expect_refused(any, list({integer(5)}), "status 5");
}

TEST(RedisReplies, OfWaiters) {
    const refresh_call call{it, "client:owner", "prefix", "500", "1900", "9500", "9500", "x", "0"};
    expect_contract("native", call);
    const auto queued =
        list({integer(0), integer(-1), text("1700000000000"), integer(0), text("9500")});
    expect_strict(call, queued);
    EXPECT_EQ(call.read(queued).queued->place_duration, std::chrono::milliseconds(9500));
    const auto granted = list({integer(1), text("7"), text("1700000000000"), integer(400)});
    expect_strict(call, granted);
    EXPECT_EQ(call.read(granted).left_ms, 400);
    EXPECT_EQ(call.read(list({integer(4)})).refusal, permits_refusal::no_total);
    expect_refused(call, list({integer(3), integer(3)}), "status 3");

    const leave_call leave{it, "client:owner", "prefix", ""};
    expect_contract("native", leave);
    expect_strict(leave, integer(1));
}

TEST(RedisReplies, OfOtherAcquires) {
    const adopt_call adopt{it, "value", "1000", true};
    expect_contract("native", adopt);
    expect_strict(adopt, list({integer(1), text("7")}));
    EXPECT_FALSE(adopt.read(list({integer(0)})));
    expect_refused(adopt, list({integer(0), text("7")}), "a token and no hold");

    const acquire_batch_call batch{"1000", true, {{it, "a"}, {it, "b"}}};
    expect_contract("native", batch, 2, 2);
    expect_strict(batch, list({integer(1), text("7"), text("8")}));
    EXPECT_TRUE(batch.read(list({integer(0), integer(2)})).empty());
    expect_refused(batch, list({integer(0), integer(3)}), "the third of two locks");
}

TEST(RedisReplies, OfReleases) {
    const release_call call{it, "value", "client:next", "next", "1000", false};
    expect_contract("native", call);
    EXPECT_EQ(call.read(list({integer(1), text("9")})).successor_token, fencing_token(9));
    EXPECT_EQ(call.read(integer(2)).result, release_result::taken_over);
    expect_refused(call, list({integer(0), text("9")}), "a successor of nothing");
    expect_refused(call, list({integer(1)}), "a list with a status");
    const release_call plain{it, "value", "", "", "", false};
    expect_strict(plain, integer(1));
    expect_refused(plain, list({integer(1), text("9")}), "a successor that was not named");

    const release_non_exclusive_call other{it, "value"};
    expect_contract("native", other);
    expect_strict(other, integer(0));

    const downgrade_call downgrade{it, "value", "1000", "7"};
    expect_contract("native", downgrade);
    expect_strict(downgrade, integer(0));
}

TEST(RedisReplies, OfRenewals) {
    renew_call call(2);
    renew_non_exclusive_call other(2);
    for (const auto* value : {"a", "b"}) {
        call.add(it, value, "1000");
        other.add(it, value, "1000");
    }
    const auto valid = list({integer(1), integer(-1)});
    expect_contract("native", call, 2);
    expect_strict(call, valid);
    expect_contract("native", other, 2);
    expect_strict(other, valid);
    EXPECT_EQ(call.read(list({integer(1), integer(0)})),
              (std::vector{renewal::outcome::extended, renewal::outcome::refused}));
    EXPECT_EQ(call.read(list({integer(-2), integer(-1)})),
              (std::vector{renewal::outcome::missing, renewal::outcome::unknown}));
    expect_refused(call, list({integer(1), integer(2)}), "status 2");
}

TEST(RedisReplies, OfTools) {
    const inspect_call call{it};
    expect_contract("native", call);
    const auto leases = list({text("owner"), text("1700000000000")});
    const auto details = list({text("owner"), text("1 7 value")});
    const auto valid = list({text("pawl:shared"), integer(100), text("7"), integer(0), leases,
                             details, text("1700000000000")});
    expect_strict(call, valid);
    auto odd = valid;
    odd.items[4].items.pop_back();
    expect_refused(call, odd, "a holder without a lease");

    const force_release_call force{it};
    expect_contract("native", force);
    expect_strict(force, integer(1));
    const resize_call resize{it, "5"};
    expect_contract("native", resize);
    expect_strict(resize, integer(1));
}

TEST(RedisReplies, OfLatches) {
    const latch_request request{"latch", "request", "2", "1", "ch"};
    const latch_set_call set{request, "3", "1000"};
    expect_contract("native", set);
    expect_strict(set, integer(1));
    const auto late = list({text("late"), text("1700000000000")});
    EXPECT_EQ(set.read_late(late)->server_ms, 1'700'000'000'000);
    EXPECT_FALSE(set.read_late(integer(1)));

    const latch_down_call down{request, "1", "0", "1000"};
    expect_contract("native", down);
    expect_strict(down, list({text("4"), text("2")}));
    EXPECT_FALSE(down.read(reply()).is_known);
    EXPECT_EQ(down.read(list({text(""), text("3")})).other_parties, 3U);
    expect_refused(down, list({text("4"), text("-1")}), "-1 left");

    const latch_inspect_call inspect{"latch"};
    expect_contract("native", inspect);
    expect_strict(inspect, list({text("2"), text("4"), text("1"), text("0"), integer(1000)}));
    const latch_reset_call reset{"latch", "ch"};
    expect_contract("native", reset);
    expect_strict(reset, integer(0));
}

redisson::lock_object object_of(redisson::object_kind kind) {
    claim requested;
    requested.name = "it";
    requested.ttl = std::chrono::seconds(1);
    requested.fenced = true;
    redisson::object_names names;
    names.lock = "it";
    names.tagged = "{it}";
    names.counter = names.queue = names.timeouts = names.presence = names.lent_permits =
        "{it}:other";
    return {requested, kind, names, "owner"};
}

TEST(RedisReplies, OfRedissonsObjects) {
    using redisson::object_kind;
    for (const auto kind : {object_kind::lock, object_kind::fair, object_kind::read,
                            object_kind::write, object_kind::permits, object_kind::semaphore}) {
        const auto object = object_of(kind);
        const redisson::acquire_call acquire{object, "5000", "1900"};
        expect_contract("redisson", acquire);
        expect_strict(acquire, list({integer(1), integer(7)}));
        EXPECT_EQ(acquire.read(list({integer(0), integer(-1)})).left_ms, -1);
        expect_refused(acquire, list({integer(1), integer(-7)}), "token -7");
        expect_refused(acquire, list({integer(2), integer(7)}), "status 2");

        const redisson::release_call release{object, "latch", "1000", "5000"};
        expect_contract("redisson", release);
        expect_strict(release, integer(2));
        EXPECT_EQ(release.read(integer(0)), release_result::expired);

        redisson::renew_call renew(2);
        renew.add(object, "1000");
        renew.add(object, "1000");
        expect_contract("redisson", renew, 2);
        expect_strict(renew, list({integer(1), integer(-1)}));
    }
    const auto reader = object_of(object_kind::read);
    const redisson::downgrade_call downgrade{reader, "writer"};
    expect_contract("redisson", downgrade);
    expect_strict(downgrade, integer(1));
}

TEST(RedisReplies, OfRedissonsTools) {
    const auto object = object_of(redisson::object_kind::lock);
    const redisson::inspect_call inspect{object.keys};
    expect_contract("redisson", inspect);
    const auto holder =
        list({text("owner"), text("1"), integer(100), text("exclusive"), integer(0)});
    const auto valid =
        list({integer(0), text("7"), integer(1), list({holder}), integer(0), integer(0)});
    expect_strict(inspect, valid);
    auto odd = valid;
    odd.items[3].items[0].items[3] = text("other");
    expect_refused(inspect, odd, "an unknown mode");

    const redisson::resize_call resize{object.keys, "5"};
    expect_contract("redisson", resize);
    expect_strict(resize, integer(1));
    const redisson::force_release_call force{object.keys};
    expect_contract("redisson", force);
    expect_strict(force, integer(0));

    const redisson::latch_set_call set{"latch", "3", "ch"};
    expect_contract("redisson", set);
    expect_strict(set, integer(1));
    const redisson::latch_down_call down{"latch", "1", "ch"};
    expect_contract("redisson", down);
    EXPECT_EQ(down.read(integer(99)), 99U);
    expect_refused(down, integer(-1), "-1 left");
    expect_refused(down, text("1"), "a string");
    const redisson::latch_reset_call reset{"latch", "ch"};
    expect_contract("redisson", reset);
    expect_strict(reset, integer(0));
}

constexpr script two_lines{.name = "two_lines",
                           .text =
                               "local now = redis.call(\"TIME\")\n"
                               "local first = redis.call(\"GET\", now[1])\n"
                               "return {redis.call(\"GET\", first), redis.call(\"PTTL\", first)}\n",
                           .sha1 = ""};

std::string named(const std::string& words) {
    reply answer;
    answer.type = reply::kind::error;
    answer.text = words;
    name_failed_command(answer, two_lines);
    return answer.text;
}

TEST(FailedCommands, AreNamedByTheirLine) {
    EXPECT_EQ(named("ERR Unknown Redis command called from script script: 62, on @user_script:2."),
              "ERR unknown command 'GET' in a script");
    EXPECT_EQ(named("ERR Error running script (call to f_62): @user_script:1: @user_script: 1: "
                    "Unknown Redis command called from Lua script"),
              "ERR unknown command 'TIME' in a script");
    EXPECT_EQ(named("ERR Error running script (call to f_62): @user_script:2: @user_script: 2: The "
                    "user executing the script can't run this command or subcommand"),
              "NOPERM the user may not run the command 'GET' in a script");
}

TEST(FailedCommands, AreNotGuessed) {
    for (const std::string& words :
         {std::string("WRONGTYPE Operation against a key script: 62, on @user_script:2."),
          std::string("ERR Unknown Redis command called from script"),
          std::string("ERR Unknown Redis command called from script, on @user_script:3."),
          std::string("ERR Unknown Redis command called from script, on @user_script:4."),
          std::string("ERR Unknown Redis command called from script, on @user_script:0."),
          std::string("ERR Unknown Redis command called from script, on @user_script:x")})
        EXPECT_EQ(named(words), words);
}

}  // namespace
}  // namespace pawl::redis::native
