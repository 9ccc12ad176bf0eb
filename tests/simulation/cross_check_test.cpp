// The twins of the locks' scripts against the real Lua.
#include "cross_check.hpp"
#include "prng.hpp"
#include "twin_parts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>

namespace pawl::simulation {
namespace {

constexpr int operations = 100'000;

// Random, but with few names, so that operations meet.
class generator {
public:
    // From what the keys hold, owners know their own locks.
    generator(std::uint64_t seed, cross_check& keys) : chance_(seed), keys_(keys) {}

    operation next(std::int64_t now_us) {
        now_us_ = now_us;
        lock_ = text(chance_.between(1, 2));
        pick_client();
        const auto dice = chance_.below(100);
        if (dice < 14) return acquire();
        if (dice < 30) return join();
        if (dice < 46) return look();
        if (dice < 58) return release();
        if (dice < 66) return {"part", six_keys(), {value(), floor(), "ch:", run()}};
        if (dice < 73) return leave();
        if (dice < 77) return renew();
        if (dice < 78) return adopt();
        if (dice < 79) return several();
        if (dice < 84) return renew_beside();
        if (dice < 86)
            return {"downgrade",
                    six_keys(),
                    {present_or_new_value(), ttl(), "7", floor(), "ch:", run()}};
        if (dice < 88)
            return {"resize", six_keys(), {text(chance_.between(1, 4)), floor(), "ch:", run()}};
        if (dice < 91) return {"force", six_keys(), {floor(), "ch:", run()}};
        if (dice < 93)
            return {"inspect", {key(""), key(":f"), key(":q"), key(":h"), key(":d")}, {}};
        return from_outside();
    }

    std::int64_t time_to_pass() {
        const auto dice = chance_.below(1000);
        if (dice < 600) return chance_.between(1, 900);
        if (dice < 900) return chance_.between(1'000, 60'000);
        if (dice < 994) return chance_.between(100'000, 3'000'000);
        if (dice < 996) return chance_.between(20'000'000'000, 90'000'000'000);
        if (dice < 997) return chance_.between(-90'000'000, -5'000'000);
        return chance_.between(-5'000'000, 0);
    }
    std::size_t batch() { return 1 + chance_.below(8); }

    // KEYS order of the scripts, for each of the two locks.
    [[nodiscard]] static words every_key() {
        words all;
        for (const char* const lock : {"1", "2"})
            for (const char* const part : {"", ":f", ":q", ":w", ":h", ":d"})
                all.push_back("pawl:{" + std::string(lock) + "}" + part);
        return all;
    }

private:
    std::string key(const char* part) { return "pawl:{" + lock_ + "}" + part; }
    words four_keys() { return {key(""), key(":f"), key(":q"), key(":w")}; }
    words six_keys() { return {key(""), key(":f"), key(":q"), key(":w"), key(":h"), key(":d")}; }
    std::string want() {
        static constexpr std::array some{"x", "s", "s", "p1", "p2", "p3"};
        return some[chance_.below(some.size())];
    }

    void pick_client() {
        static constexpr std::array names{"a1", "b2", "c3", "d4"};
        client_ = names[chance_.below(names.size())];
        owner_ = "abc"[chance_.below(3)] + std::string(client_);
        // What people's commands and host names may contain must not matter.
        static constexpr std::array commands{"run %d+ (.*)", "a b;c", "", "line\nbreak", "ä\xff"};
        prefix_ = owner_ + ";" + client_ + ";host;1;" +
                  commands[static_cast<std::size_t>(owner_.front() - 'a')];
    }
    std::string run() { return chance_.chance(0.9) ? "r1" : "r2"; }
    std::string waiter() { return client_ + ":" + owner_; }
    std::string present_or_new_value() {
        const auto there = keys_.value_of(key(""));
        return there.empty() || chance_.chance(0.5) ? value() : there;
    }
    std::string value_beside() {
        const auto detail = read_detail(keys_.value_of(key(":d"), owner_));
        return detail ? detail->value : std::string();
    }
    std::string value_beside_or_new_value() {
        const auto there = value_beside();
        return there.empty() || chance_.chance(0.2) ? value() : there;
    }
    std::string value() {
        return prefix_ + ";" + (chance_.chance(0.7) ? "0" : text(now_us_ / 1000));
    }
    std::string floor() {
        const auto keep = chance_.chance(0.8) ? "86400000" : text(chance_.between(1, 400));
        return lowest() + " " + keep;
    }
    std::string lowest() {
        const auto dice = chance_.below(10);
        if (dice == 0) return "0";
        const auto start = (world_start_us / 1'000'000 - 1'704'067'200) * 65536;
        if (dice < 9) return text(start + chance_.between(0, 3));
        return text((now_us_ / 1'000'000 - 1'704'067'200) * 65536 +
                    chance_.between(-70'000, 70'000));
    }
    std::string ttl() {
        static constexpr std::array<std::int64_t, 6> some{1, 7, 100, 1'000, 30'000, 400'000'000};
        return text(some[chance_.below(some.size())]);
    }
    // Rarely one that Redis refuses, as it does for want of memory.
    std::string window() { return chance_.chance(0.02) ? "0" : text(chance_.between(1, 400)); }
    std::string lease() { return chance_.chance(0.5) ? "3000" : text(chance_.between(1, 100)); }

    operation acquire() {
        const bool waits = chance_.chance(0.7);
        return {"acquire",
                four_keys(),
                {value(), ttl(), chance_.chance(0.9) ? floor() : "", waits ? waiter() : "", prefix_,
                 window(), lease()}};
    }
    operation join() {
        const bool waits = chance_.chance(0.7);
        return {"join",
                six_keys(),
                {value(), ttl(), chance_.chance(0.9) ? floor() : "", waits ? waiter() : "", prefix_,
                 window(), lease(), "ch:", floor(), want(), text(chance_.between(0, 3)), run()}};
    }
    operation look() {
        return {"look",
                six_keys(),
                {floor(), "ch:", waiter(), prefix_, window(), lease(), want(),
                 text(chance_.below(2) * 3), run()}};
    }
    operation leave() {
        const auto kept = chance_.chance(0.3) ? present_or_new_value() : std::string();
        return {"leave", six_keys(), {floor(), "ch:", waiter(), prefix_, kept, run()}};
    }
    operation renew_beside() {
        operation all{"renew_beside", {}, {}};
        for (auto count = chance_.between(1, 2); count > 0; --count) {
            lock_ = text(chance_.between(1, 2));
            // One that holds it, if there is one.
            for (int i = 0; i < 8 && (i == 0 || value_beside().empty()); ++i)
                pick_client();
            all.keys.insert(all.keys.end(), {key(""), key(":h"), key(":d")});
            all.arguments.insert(all.arguments.end(), {value_beside_or_new_value(), ttl()});
        }
        return all;
    }
    operation release() {
        const auto mine = present_or_new_value();
        const bool heir = chance_.chance(0.5);
        words arguments{mine, floor(), "ch:"};
        pick_client();
        arguments.insert(arguments.end(), {heir ? waiter() : "", value(), ttl(),
                                           chance_.chance(0.5) ? "1" : "0", run()});
        return {"release", six_keys(), std::move(arguments)};
    }
    operation renew() {
        operation all{"renew", {}, {}};
        for (auto count = 1 + chance_.below(3); count > 0; --count) {
            lock_ = text(chance_.between(1, 2));
            pick_client();
            all.keys.push_back(key(""));
            all.arguments.push_back(present_or_new_value());
            all.arguments.push_back(ttl());
        }
        return all;
    }
    operation several() {
        operation all{"several", {}, {ttl(), chance_.chance(0.2) ? "" : floor()}};
        for (const char* const lock : {"1", "2"}) {
            lock_ = lock;
            pick_client();
            all.keys.insert(all.keys.end(), {key(""), key(":f")});
            all.arguments.push_back(value());
        }
        return all;
    }
    operation adopt() {
        const words keys{key(""), key(":f")};
        return {"adopt", keys, {present_or_new_value(), ttl(), chance_.chance(0.2) ? "" : floor()}};
    }
    // Other clients, operators, evictions: also what should never be there.
    operation from_outside() {
        static constexpr std::array parts{"", ":f", ":q", ":w", ":h", ":d"};
        const auto some_key = key(parts[chance_.below(parts.size())]);
        const auto dice = chance_.below(75);
        if (dice >= 65)
            return {"", {}, {"CONFIG", "SET", "maxmemory", chance_.chance(0.3) ? "1" : "0"}};
        // Lua rounds above 2^53.
        if (dice == 64) return {"", {}, {"SET", key(":f"), "9007199254740993"}};
        if (dice < 8) return {"", {}, {"SET", key(""), "foreign", "PX", ttl(), "NX"}};
        if (dice < 9) return {"", {}, {"SET", some_key, "abc"}};
        if (dice < 10) return {"", {}, {"HSET", some_key, "f", "v"}};
        if (dice < 11)
            return {"",
                    {},
                    {"HSET", key(":d"), chance_.chance(0.5) ? "n" : "used",
                     chance_.chance(0.5) ? "abc" : "2"}};
        if (dice < 18) return {"", {}, {"PEXPIRE", some_key, ttl()}};
        if (dice < 24) return {"", {}, {"FLUSHALL"}};
        return {"", {}, {"DEL", some_key}};
    }

    prng chance_;
    cross_check& keys_;
    std::int64_t now_us_ = 0;
    std::string lock_, client_, owner_, prefix_;
};

// "release [1, …]": which script, and how its answer begins and how long it is.
std::string outcome(const operation& what, const redis::reply& answer) {
    if (what.script.empty()) return "plain";
    if (answer.what != redis::reply::kind::array) return what.script + " " + to_string(answer);
    const auto size = " of " + std::to_string(answer.items.size());
    return what.script + " " + to_string(answer.items.front()) + size;
}

constexpr const char* outcomes[] = {
    "acquire 1 of 2",      "acquire 0 of 2",       "acquire 0 of 4", "acquire error WRONGTYPE",
    "acquire error OOM",   "join error OOM",       "look error OOM", "look 1 of 4",
    "look 0 of 4",         "look error WRONGTYPE", "release 1 of 1", "release 1 of 2",
    "release 2 of 1",      "release 0 of 1",       "leave 0",        "leave 1",
    "renew 1 of 2",        "renew 0 of 2",         "several 1 of 3", "several 0 of 2",
    "adopt 1 of 2",        "adopt 0 of 1",         "force 0",        "force 1",
    "join 1 of 2",         "join 0 of 2",          "join 0 of 4",    "join 2 of 2",
    "join 3 of 2",         "join 4 of 1",          "look 2 of 2",    "look 4 of 1",
    "part 1 of 1",         "part 0 of 1",          "part 2 of 1",    "renew_beside 1 of 2",
    "renew_beside 0 of 2", "downgrade 1",          "downgrade 0",    "resize 1"};

TEST(cross_check, twins_do_what_the_scripts_do) {
    cross_check both({"ch:a1", "ch:b2"}, generator::every_key(), outcome);
    generator chance(20261121, both);
    auto now = world_start_us;
    std::vector<operation> batch;
    while (both.played() < operations) {
        now += chance.time_to_pass();
        batch.clear();
        for (auto count = chance.batch(); count > 0; --count)
            batch.push_back(chance.next(now));
        both.play(now, batch);
    }
    EXPECT_EQ(both.seldom(outcomes, 40), words{});
    EXPECT_GT(both.messages(), 1000);
}

}  // namespace
}  // namespace pawl::simulation
