// The twins of the latches' scripts against the real Lua.
#include "cross_check.hpp"
#include "prng.hpp"

#include <gtest/gtest.h>

#include <array>

namespace pawl::simulation {
namespace {

constexpr int operations = 40'000;
constexpr int redisson_operations = 20'000;

// Two latches, three requests each, so that operations meet and are said again.
class generator {
public:
    explicit generator(std::uint64_t seed) : chance_(seed) {}

    operation next(std::int64_t now_us) {
        now_ms_ = now_us / 1000;
        latch_ = chance_.chance(0.5) ? "pawl:{1}:l" : "pawl:{2}:l";
        const auto dice = chance_.below(100);
        if (dice < 25)
            return {"latch_set",
                    {latch_, latch_ + ":s"},
                    {limit(), text(chance_.between(1, 4)), ttl(), "PUBLISH", latch_, since()}};
        if (dice < 55)
            return {"latch_down", both(), {limit(), steps(), "0", "0", "PUBLISH", latch_, since()}};
        if (dice < 80)
            return {"latch_down",
                    both(),
                    {limit(), "1", text(parties()), ttl(), "PUBLISH", latch_, since()}};
        if (dice < 89) return {"latch_look", {latch_}, {}};
        if (dice < 94) return {"latch_reset", {latch_}, {"PUBLISH", latch_}};
        if (dice < 96)
            return {"", {}, {"CONFIG", "SET", "maxmemory", chance_.chance(0.2) ? "1" : "0"}};
        if (dice < 97) return {"", {}, {"SET", latch_, "x", "PX", "20"}};
        return {"", {}, {"DEL", latch_}};
    }
    std::int64_t time_to_pass() {
        const auto dice = chance_.below(100);
        if (dice < 70) return chance_.between(1, 900);
        if (dice < 98) return chance_.between(1'000, 60'000);
        return chance_.between(100'000, 12'000'000);
    }

    [[nodiscard]] static words every_key() {
        words all;
        for (const char* const latch : {"pawl:{1}:l", "pawl:{2}:l"})
            for (const char* const request : {"", ":s", ":a", ":b", ":c"})
                all.push_back(std::string(latch) + request);
        return all;
    }

private:
    words both() { return {latch_, latch_ + ":" + "abc"[chance_.below(3)]}; }
    std::string steps() {
        return text(chance_.chance(0.8) ? 1 : chance_.between(2, 4'000'000'000));
    }
    std::int64_t parties() { return chance_.chance(0.9) ? 2 : 3; }
    std::string ttl() { return text(chance_.between(20, 400)); }
    std::string since() { return text(now_ms_ + chance_.between(-40, 1)); }
    // The memory of a request ends ten seconds later.
    std::string limit() { return text(now_ms_ + chance_.between(-3, 30)); }

    prng chance_;
    std::string latch_;
    std::int64_t now_ms_ = 0;
};

std::string outcome(const operation& what, const redis::reply& answer) {
    if (answer.what != redis::reply::kind::array) return what.script + " " + to_string(answer);
    if (answer.items.front().text == "late") return what.script + " late";
    const bool refused = answer.items.front().text.empty();
    const bool over = answer.items.size() == 2 && answer.items.back().text == "0";
    return what.script + (refused ? " refused" : over ? " over" : " going on");
}

constexpr const char* outcomes[] = {"latch_set 1",
                                    "latch_set 0",
                                    "latch_set late",
                                    "latch_down late",
                                    "latch_set error OOM",
                                    "latch_set error WRONGTYPE",
                                    "latch_down refused",
                                    "latch_down over",
                                    "latch_down going on",
                                    "latch_down nil",
                                    "latch_down error WRONGTYPE",
                                    "latch_look going on",
                                    "latch_look nil",
                                    "latch_reset 0",
                                    "latch_reset 1"};

TEST(cross_check, twins_of_latches_do_what_the_scripts_do) {
    cross_check both({"pawl:{1}:l", "pawl:{2}:l"}, generator::every_key(), outcome);
    generator chance(20261121);
    auto now = world_start_us;
    while (both.played() < operations) {
        now += chance.time_to_pass();
        const std::array one{chance.next(now)};
        both.play(now, one);
    }
    EXPECT_EQ(both.seldom(outcomes, 50), words{});
    EXPECT_GT(both.messages(), 1000);
}

// Redisson's latch: a number, which may also be something else.
operation of_redisson(prng& chance) {
    const std::string latch = chance.chance(0.5) ? "a" : "b";
    const auto channel = "redisson_countdownlatch__channel__{" + latch + "}";
    const auto dice = chance.below(100);
    if (dice < 30)
        return {"redisson/latch_set", {latch}, {text(chance.between(1, 4)), channel, "PUBLISH"}};
    if (dice < 80)
        return {"redisson/latch_down", {latch}, {text(chance.between(1, 3)), channel, "PUBLISH"}};
    if (dice < 88) return {"redisson/latch_reset", {latch}, {channel, "PUBLISH"}};
    if (dice < 92) return {"", {}, {"CONFIG", "SET", "maxmemory", chance.chance(0.2) ? "1" : "0"}};
    if (dice < 94) return {"", {}, {"SET", latch, "x", "PX", "20"}};
    if (dice < 96) return {"", {}, {"HSET", latch, "field", "x"}};
    return {"", {}, {"DEL", latch}};
}

TEST(cross_check, twins_of_redissons_latches_do_what_the_scripts_do) {
    cross_check both(
        {"redisson_countdownlatch__channel__{a}", "redisson_countdownlatch__channel__{b}"},
        {"a", "b"}, [](const operation& what, const redis::reply& answer) {
            return what.script + " " + to_string(answer);
        });
    prng chance(20261122);
    auto now = world_start_us;
    while (both.played() < redisson_operations) {
        now += chance.between(1, 5'000);
        const std::array each{of_redisson(chance)};
        both.play(now, each);
    }
    constexpr const char* answers[] = {
        "redisson/latch_set 1",          "redisson/latch_set 0",
        "redisson/latch_set error OOM",  "redisson/latch_set error WRONGTYPE",
        "redisson/latch_down 0",         "redisson/latch_down 3",
        "redisson/latch_down error ERR", "redisson/latch_down error WRONGTYPE",
        "redisson/latch_down error OOM", "redisson/latch_reset 0",
        "redisson/latch_reset 1",        "redisson/latch_reset error WRONGTYPE"};
    EXPECT_EQ(both.seldom(answers, 20), words{});
    EXPECT_GT(both.messages(), 1000);
}

}  // namespace
}  // namespace pawl::simulation
