// The twins of the latches' scripts against the real Lua on a real server whose clock we move:
// every reply, every message and every key after every operation.
#include "prng.hpp"
#include "real_redis.hpp"
#include "replies.hpp"
#include "twins_latch.hpp"

#include <redis_scripts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>

namespace pawl::simulation {
namespace {

using words = std::vector<std::string>;

constexpr int operations = 40'000;
constexpr std::int64_t world_start_us = 1'900'000'000'000'000;

std::string text(std::int64_t number) { return std::to_string(number); }

// A script, or a plain command where `script` is empty.
struct operation {
    std::string script;
    words keys;
    words arguments;
};

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

constexpr const char* dump_script = R"lua(
local all = {}
for i, key in ipairs(KEYS) do
    local kind = redis.call("TYPE", key).ok
    local line = kind .. " " .. redis.call("PTTL", key)
    if kind == "string" then line = line .. " " .. redis.call("GET", key) end
    if kind == "hash" then
        local fields = redis.call("HKEYS", key)
        table.sort(fields)
        for _, field in ipairs(fields) do
            line = line .. " " .. field .. "=" .. redis.call("HGET", key, field)
        end
    end
    all[i] = line
end
return all)lua";

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

    redis::reply dump(const words& names) {
        std::vector<redis::reply> rows;
        for (const auto& name : names) {
            const auto& all = keys_.all();
            const auto it = all.find(name);
            rows.push_back(string_reply(it == all.end() ? "none -2" : line(name, it->second)));
        }
        return array_reply(std::move(rows));
    }

    std::deque<std::string> messages;

private:
    std::string line(const std::string& name, const store::entry& entry) {
        const auto left = text(keys_.pttl(name));
        if (const auto* const value = std::get_if<std::string>(&entry.content))
            return "string " + left + " " + *value;
        std::string all = "hash " + left;
        for (const auto& [field, value] : std::get<store::hash>(entry.content))
            all += " " + field + "=" + value;
        return all;
    }
    redis::reply plain(const words& w) {
        if (w[0] == "DEL") return integer_reply(keys_.del(w[1]) ? 1 : 0);
        keys_.set(w[1], w[2], std::stoll(w[4]), false);
        return string_reply("OK");
    }

    std::function<std::int64_t(std::string_view, std::string_view)> publish_ =
        [this](std::string_view channel, std::string_view payload) -> std::int64_t {
        messages.push_back(std::string(channel) + " " + std::string(payload));
        return 1;
    };
    store keys_;
};

class real_side {
public:
    real_side() : commands_(server_.socket_path()), messages_(server_.socket_path()) {
        for (const auto& one : redis::scripts::all)
            static_cast<void>(commands_.ask(words{"SCRIPT", "LOAD", std::string(one.text)}));
        dump_sha_ = commands_.ask(words{"SCRIPT", "LOAD", dump_script}).text;
        static_cast<void>(messages_.ask(words{"SUBSCRIBE", "pawl:{1}:l"}));
        static_cast<void>(messages_.ask(words{"SUBSCRIBE", "pawl:{2}:l"}));
    }
    void set_clock(std::int64_t us) { server_.set_clock(us); }

    redis::reply run(const operation& what) {
        if (what.script.empty()) return commands_.ask(what.arguments);
        const auto it = std::ranges::find(redis::scripts::all, what.script, &redis::script::name);
        return eval(std::string(it->sha1), what.keys, what.arguments);
    }
    redis::reply dump(const words& keys) { return eval(dump_sha_, keys, {}); }
    std::string read_message() {
        const auto message = messages_.read();
        return message.items.at(1).text + " " + message.items.at(2).text;
    }

private:
    redis::reply eval(const std::string& sha1, const words& keys, const words& arguments) {
        words all{"EVALSHA", sha1, text(static_cast<std::int64_t>(keys.size()))};
        all.insert(all.end(), keys.begin(), keys.end());
        all.insert(all.end(), arguments.begin(), arguments.end());
        return commands_.ask(all);
    }

    real_redis server_;
    real_connection commands_;
    real_connection messages_;
    std::string dump_sha_;
};

std::string outcome(const operation& what, const redis::reply& answer) {
    if (answer.what != redis::reply::kind::array) return what.script + " " + to_string(answer);
    const bool refused = answer.items.front().text.empty();
    const bool over = answer.items.size() == 2 && answer.items.back().text == "0";
    return what.script + (refused ? " refused" : over ? " over" : " going on");
}

// The comparison means something only if the operations meet.
void expect_every_outcome(const std::map<std::string, int>& seen, int messages) {
    for (const char* const one :
         {"latch_set 1", "latch_set 0", "latch_set error WRONGTYPE", "latch_down refused",
          "latch_down over", "latch_down going on", "latch_down nil", "latch_down error WRONGTYPE",
          "latch_look going on", "latch_look nil", "latch_reset 0", "latch_reset 1"}) {
        const auto it = seen.find(one);
        EXPECT_GT(it == seen.end() ? 0 : it->second, 50) << one;
    }
    EXPECT_GT(messages, 1000);
}

TEST(cross_check, twins_of_latches_do_what_the_scripts_do) {
    std::map<std::string, int> seen;
    int messages = 0;
    twin_side twins;
    generator chance(20261121);
    real_side real;
    const auto every_key = generator::every_key();
    auto now = world_start_us;
    for (int done = 0; done < operations; ++done) {
        now += chance.time_to_pass();
        twins.set_clock(now);
        real.set_clock(now);
        const auto one = chance.next();
        SCOPED_TRACE(one.script + " " + (one.keys.empty() ? "" : one.keys.back()) + ", operation " +
                     text(done));
        const auto answer = twins.run(one);
        ++seen[outcome(one, answer)];
        ASSERT_EQ(to_string(answer), to_string(real.run(one)));
        ASSERT_EQ(to_string(twins.dump(every_key)), to_string(real.dump(every_key)));
        for (; !twins.messages.empty(); twins.messages.pop_front(), ++messages)
            ASSERT_EQ(twins.messages.front(), real.read_message());
    }
    expect_every_outcome(seen, messages);
}

}  // namespace
}  // namespace pawl::simulation
