// The native twins against the real Lua on a real server whose clock we move: every reply, every
// message and every key after every operation.
#include "prng.hpp"
#include "real_redis.hpp"
#include "replies.hpp"
#include "twins.hpp"

#include <redis_scripts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>

namespace pawl::simulation {
namespace {

using words = std::vector<std::string>;

constexpr int operations = 100'000;
constexpr std::int64_t world_start_us = 1'900'000'000'000'000;

std::string text(std::int64_t number) { return std::to_string(number); }

// What both sides are told to do: a script, or a plain command.
struct operation {
    std::string script;  // empty: `arguments` is a plain command
    words keys;
    words arguments;
};

std::string describe(const operation& what) {
    std::string line = what.script;
    for (const auto& list : {what.keys, what.arguments})
        for (const auto& word : list)
            line += " '" + word + "'";
    return line;
}

// Random, but with few names, so that operations meet.
class generator {
public:
    // `now_there` tells what a lock's key holds, so that owners meet their own locks.
    generator(std::uint64_t seed, std::function<std::string(const std::string&)> now_there)
        : chance_(seed), now_there_(std::move(now_there)) {}

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
        const auto there = now_there_(key(""));
        return there.empty() || chance_.chance(0.5) ? value() : there;
    }
    std::string value() {
        return prefix_ + ";" + (chance_.chance(0.7) ? "0" : text(now_us_ / 1000));
    }
    std::string floor() {
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
            pick_client();
            all.keys.insert(all.keys.end(), {key(""), key(":h"), key(":d")});
            all.arguments.insert(all.arguments.end(), {value(), ttl()});
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
        const auto dice = chance_.below(64);
        if (dice < 8) return {"", {}, {"SET", key(""), "foreign", "PX", ttl(), "NX"}};
        if (dice < 9) return {"", {}, {"SET", some_key, "abc"}};
        if (dice < 10) return {"", {}, {"HSET", some_key, "f", "v"}};
        if (dice < 18) return {"", {}, {"PEXPIRE", some_key, ttl()}};
        if (dice < 24) return {"", {}, {"FLUSHALL"}};
        return {"", {}, {"DEL", some_key}};
    }

    prng chance_;
    std::function<std::string(const std::string&)> now_there_;
    std::int64_t now_us_ = 0;
    std::string lock_, client_, owner_, prefix_;
};

// What one side answers to: type, time left and content of a key, in the order of the server's
// script.
constexpr const char* dump_script = R"lua(
local all = {}
for i, key in ipairs(KEYS) do
    local kind = redis.call("TYPE", key).ok
    local content = false
    if kind == "string" then content = redis.call("GET", key)
    elseif kind == "zset" then content = redis.call("ZRANGE", key, 0, -1, "WITHSCORES")
    elseif kind == "hash" then content = redis.call("HGETALL", key) end
    all[i] = {kind, redis.call("PTTL", key), content}
end
return all)lua";

// HGETALL has no order of its own.
void sort_hash(redis::reply& fields) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2)
        pairs.emplace_back(fields.items[i].text, fields.items[i + 1].text);
    std::ranges::sort(pairs);
    fields.items.clear();
    for (auto& [name, value] : pairs) {
        fields.items.push_back(string_reply(std::move(name)));
        fields.items.push_back(string_reply(std::move(value)));
    }
}

// The simulated side, with subscribers a1 and b2.
class twin_side {
public:
    void set_clock(std::int64_t us) { keys_.set_clock(us); }

    redis::reply run(const operation& what) {
        try {
            if (what.script.empty()) return plain(what.arguments);
            script_call call{keys_, publish_, what.keys, what.arguments};
            return find_twin(what.script)(call);
        } catch (const command_error& error) {
            return error_reply(error.what());
        }
    }

    // Empty where it is none, or no string.
    std::string value_of(const std::string& lock) {
        const auto it = keys_.all().find(lock);
        if (it == keys_.all().end()) return {};
        const auto* const value = std::get_if<std::string>(&it->second.content);
        return value ? *value : std::string();
    }

    redis::reply dump(const words& names) {
        const auto& all = keys_.all();
        std::vector<redis::reply> rows;
        for (const auto& name : names) {
            const auto it = all.find(name);
            rows.push_back(it == all.end()
                               ? array_reply({string_reply("none"), integer_reply(-2), nil_reply()})
                               : row(name, it->second));
        }
        return array_reply(std::move(rows));
    }

    std::deque<std::string> messages;

private:
    redis::reply row(const std::string& name, const store::entry& entry) {
        std::vector<redis::reply> items;
        const char* kind = "string";
        redis::reply content;
        if (const auto* const value = std::get_if<std::string>(&entry.content)) {
            content = string_reply(*value);
        } else if (const auto* const set = std::get_if<store::sorted_set>(&entry.content)) {
            kind = "zset";
            for (const auto& [score, member] : set->order) {
                items.push_back(string_reply(member));
                items.push_back(string_reply(text(static_cast<std::int64_t>(score))));
            }
            content = array_reply(std::move(items));
        } else {
            kind = "hash";
            for (const auto& [field, value_of] : std::get<store::hash>(entry.content)) {
                items.push_back(string_reply(field));
                items.push_back(string_reply(value_of));
            }
            content = array_reply(std::move(items));
        }
        return array_reply(
            {string_reply(kind), integer_reply(keys_.pttl(name)), std::move(content)});
    }

    redis::reply plain(const words& w) {
        if (w[0] == "SET") {
            const bool full = w.size() > 3;
            const auto px = full ? std::optional<std::int64_t>(std::stoll(w[4])) : std::nullopt;
            return keys_.set(w[1], w[2], px, full) ? string_reply("OK") : nil_reply();
        }
        if (w[0] == "HSET") {
            const bool there = keys_.hget(w[1], w[2]).has_value();
            keys_.hset(w[1], w[2], w[3]);
            return integer_reply(there ? 0 : 1);
        }
        if (w[0] == "PEXPIRE") return integer_reply(keys_.pexpire(w[1], std::stoll(w[2])) ? 1 : 0);
        if (w[0] == "DEL") return integer_reply(keys_.del(w[1]) ? 1 : 0);
        keys_.clear();
        return string_reply("OK");
    }

    std::function<std::int64_t(std::string_view, std::string_view)> publish_ =
        [this](std::string_view channel, std::string_view payload) -> std::int64_t {
        if (channel != "ch:a1" && channel != "ch:b2") return 0;
        messages.push_back(std::string(channel) + " " + std::string(payload));
        return 1;
    };
    store keys_;
};

class real_side {
public:
    real_side() : commands_(server_.socket_path()), messages_(server_.socket_path()) {
        for (const auto& one : redis::scripts::all) {
            const auto loaded = commands_.ask(words{"SCRIPT", "LOAD", std::string(one.text)});
            EXPECT_EQ(loaded.text, one.sha1) << one.name;
        }
        dump_sha_ = commands_.ask(words{"SCRIPT", "LOAD", dump_script}).text;
        messages_.queue(words{"SUBSCRIBE", "ch:a1", "ch:b2"});
        messages_.flush();
        static_cast<void>(messages_.read());
        static_cast<void>(messages_.read());
    }

    void set_clock(std::int64_t us) { server_.set_clock(us); }

    void queue(const operation& what, const words& every_key) {
        if (what.script.empty()) {
            commands_.queue(what.arguments);
        } else {
            const auto it =
                std::ranges::find(redis::scripts::all, what.script, &redis::script::name);
            eval(std::string(it->sha1), what.keys, what.arguments);
        }
        eval(dump_sha_, every_key, {});
    }
    void flush() { commands_.flush(); }
    redis::reply read() { return commands_.read(); }
    redis::reply read_dump() {
        auto all = commands_.read();
        for (auto& one : all.items)
            if (one.items.at(0).text == "hash") sort_hash(one.items.at(2));
        return all;
    }
    std::string read_message() {
        const auto message = messages_.read();
        return message.items.at(1).text + " " + message.items.at(2).text;
    }

private:
    void eval(const std::string& sha1, const words& keys, const words& arguments) {
        words all{"EVALSHA", sha1, std::to_string(keys.size())};
        all.insert(all.end(), keys.begin(), keys.end());
        all.insert(all.end(), arguments.begin(), arguments.end());
        commands_.queue(all);
    }

    real_redis server_;
    real_connection commands_;
    real_connection messages_;
    std::string dump_sha_;
};

// "release [1, …]": which script, and how its answer begins and how long it is.
std::string outcome(const operation& what, const redis::reply& answer) {
    if (what.script.empty()) return "plain";
    if (answer.what != redis::reply::kind::array) return what.script + " " + to_string(answer);
    const auto size = " of " + std::to_string(answer.items.size());
    return what.script + " " + to_string(answer.items.front()) + size;
}

// The comparison means something only if the operations meet.
void expect_every_outcome(const std::map<std::string, int>& seen, int messages) {
    for (const char* const one : {"acquire 1 of 2",
                                  "acquire 0 of 2",
                                  "acquire 0 of 4",
                                  "acquire error WRONGTYPE",
                                  "look 1 of 4",
                                  "look 0 of 4",
                                  "look error WRONGTYPE",
                                  "release 1 of 1",
                                  "release 1 of 2",
                                  "release 2 of 1",
                                  "release 0 of 1",
                                  "leave 0",
                                  "leave 1",
                                  "renew 1 of 2",
                                  "renew 0 of 2",
                                  "several 1 of 3",
                                  "several 0 of 2",
                                  "adopt 1 of 2",
                                  "adopt 0 of 1",
                                  "force 0",
                                  "force 1",
                                  "join 1 of 2",
                                  "join 0 of 2",
                                  "join 0 of 4",
                                  "join 2 of 2",
                                  "join 3 of 2",
                                  "join 4 of 1",
                                  "look 2 of 2",
                                  "look 4 of 1",
                                  "part 1 of 1",
                                  "part 0 of 1",
                                  "part 2 of 1",
                                  "renew_beside 1 of 2",
                                  "renew_beside 0 of 2",
                                  "downgrade 1",
                                  "downgrade 0",
                                  "resize 1"}) {
        const auto it = seen.find(one);
        EXPECT_GT(it == seen.end() ? 0 : it->second, 40) << one;
    }
    EXPECT_GT(messages, 1000);
}

TEST(cross_check, twins_do_what_the_scripts_do) {
    std::map<std::string, int> seen;
    int messages = 0;
    twin_side twins;
    generator chance(20261121, [&](const std::string& lock) { return twins.value_of(lock); });
    real_side real;
    const auto every_key = generator::every_key();
    auto now = world_start_us;
    std::vector<operation> batch;
    for (int done = 0; done < operations; done += static_cast<int>(batch.size())) {
        now += chance.time_to_pass();
        twins.set_clock(now);
        real.set_clock(now);
        batch.clear();
        for (auto count = chance.batch(); count > 0; --count)
            batch.push_back(chance.next(now));
        for (const auto& one : batch)
            real.queue(one, every_key);
        real.flush();
        for (const auto& one : batch) {
            SCOPED_TRACE(describe(one) + " at " + std::to_string(now) + ", operation " +
                         std::to_string(done));
            const auto answer = twins.run(one);
            ++seen[outcome(one, answer)];
            auto really = real.read();
            if (really.items.size() == 7) sort_hash(really.items[5]);  // of inspect
            ASSERT_EQ(to_string(answer), to_string(really));
            ASSERT_EQ(to_string(twins.dump(every_key)), to_string(real.read_dump()));
        }
        for (; !twins.messages.empty(); twins.messages.pop_front(), ++messages)
            ASSERT_EQ(twins.messages.front(), real.read_message());
    }
    expect_every_outcome(seen, messages);
}

}  // namespace
}  // namespace pawl::simulation
