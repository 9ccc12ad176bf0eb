// The twins of the latches' scripts against the real Lua.
#include "cross_check.hpp"
#include "prng.hpp"

#include <gtest/gtest.h>

#include <array>

namespace pawl::simulation {
namespace {

constexpr int operations = 40'000;

// Two latches, three requests each, so that operations meet and are said again.
class generator {
public:
    explicit generator(std::uint64_t seed) : chance_(seed) {}

    operation next() {
        latch_ = chance_.chance(0.5) ? "pawl:{1}:l" : "pawl:{2}:l";
        const auto dice = chance_.below(100);
        if (dice < 25)
            return {"latch_set",
                    {latch_, latch_ + ":s"},
                    {text(chance_.between(1, 4)), ttl(), window()}};
        if (dice < 55) return {"latch_down", both(), {steps(), window(), "0", "0", "PUBLISH"}};
        if (dice < 80)
            return {"latch_down", both(), {"1", window(), text(parties()), ttl(), "PUBLISH"}};
        if (dice < 90) return {"latch_look", {latch_}, {}};
        if (dice < 95) return {"latch_reset", {latch_}, {"PUBLISH"}};
        if (dice < 97) return {"", {}, {"SET", latch_, "x", "PX", "20"}};
        return {"", {}, {"DEL", latch_}};
    }
    std::int64_t time_to_pass() {
        const auto dice = chance_.below(100);
        if (dice < 70) return chance_.between(1, 900);
        if (dice < 99) return chance_.between(1'000, 60'000);
        return chance_.between(100'000, 5'000'000);
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
    std::string window() { return text(chance_.between(5, 100)); }

    prng chance_;
    std::string latch_;
};

std::string outcome(const operation& what, const redis::reply& answer) {
    if (answer.what != redis::reply::kind::array) return what.script + " " + to_string(answer);
    const bool refused = answer.items.front().text.empty();
    const bool over = answer.items.size() == 2 && answer.items.back().text == "0";
    return what.script + (refused ? " refused" : over ? " over" : " going on");
}

constexpr const char* outcomes[] = {"latch_set 1",
                                    "latch_set 0",
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
        const std::array one{chance.next()};
        both.play(now, one);
    }
    EXPECT_EQ(both.seldom(outcomes, 50), words{});
    EXPECT_GT(both.messages(), 1000);
}

}  // namespace
}  // namespace pawl::simulation
