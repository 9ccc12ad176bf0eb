#include "twins_latch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace pawl::simulation {
namespace {

using redis::reply;

std::int64_t to_number(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// _latch.lua
void begin(script_call& s, const std::string& count, const std::string& parties,
           const std::string& ttl) {
    const auto& latch = s.key[0];
    if (const auto generation = s.keys.hget(latch, "generation")) {
        s.keys.hset(latch, "generation", std::to_string(to_number(*generation) + 1));
    } else {
        const auto seconds = s.keys.now_us() / 1'000'000 - 1'704'067'200;
        const auto first = seconds * 65536 + s.keys.now_us() % 1'000'000 * 65536 / 1'000'000;
        s.keys.hset(latch, "generation", std::to_string(first));
        s.keys.hset(latch, "first", std::to_string(first));
    }
    s.keys.hset(latch, "count", count);
    s.keys.hset(latch, "parties", parties);
    s.keys.hset(latch, "ttl", ttl);
    s.keys.pexpire(latch, to_number(ttl));
}

// The bug counts what comes late, and remembers for as long as the limit is away.
std::optional<reply> is_late(script_call& s, const std::string& since) {
    const auto now = s.keys.now_ms();
    const bool in_time = now <= to_number(s.arg[0]) && now >= to_number(since);
    if (s.bug == planted::late_steps_count || in_time) return std::nullopt;
    return array_reply({string_reply("late"), string_reply(std::to_string(s.keys.now_ms()))});
}

void remember(script_call& s, const std::string& answer) {
    const auto left = to_number(s.arg[0]) - s.keys.now_ms();
    const bool bug = s.bug == planted::late_steps_count;
    s.keys.set(s.key[1], answer, bug ? std::max<std::int64_t>(left, 1) : left + 10'000, false);
}

reply latch_set(script_call& s) {
    const auto count = s.keys.hget(s.key[0], "count").value_or("0");
    if (s.keys.get(s.key[1])) return integer_reply(1);
    if (auto late = is_late(s, s.arg[5])) return *late;
    if (count != "0") return integer_reply(0);
    remember(s, "1");
    begin(s, s.arg[1], "0", s.arg[2]);
    return integer_reply(1);
}

reply remembered(const std::string& said) {
    const auto space = said.find(' ');
    return array_reply({string_reply(said.substr(0, space)), string_reply(said.substr(space + 1))});
}

reply latch_down(script_call& s) {
    const auto& latch = s.key[0];
    const auto& parties_wanted = s.arg[2];
    auto count = s.keys.hget(latch, "count");
    auto parties = s.keys.hget(latch, "parties");
    if (const auto said = s.keys.get(s.key[1])) return remembered(*said);
    if (auto late = is_late(s, s.arg[6])) return *late;
    s.keys.del(s.key[1]);
    if (parties_wanted != "0") {
        if (count.value_or("0") == "0") {
            begin(s, parties_wanted, parties_wanted, s.arg[3]);
            count = parties = parties_wanted;
        } else if (parties != parties_wanted) {
            return array_reply({string_reply(""), string_reply(*parties)});
        }
        s.keys.hset(latch, "ttl", s.arg[3]);
    } else if (!count) {
        return nil_reply();
    }
    // The bug takes the first of a barrier for the last one, at times.
    const bool early =
        s.bug == planted::barrier_trips_early && parties_wanted != "0" && s.keys.now_us() % 8 == 0;
    const auto left =
        early ? 0 : std::max<std::int64_t>(to_number(*count) - to_number(s.arg[1]), 0);
    const auto generation = s.keys.hget(latch, "generation").value();
    const auto first = s.keys.hget(latch, "first").value();
    const auto ttl = s.keys.hget(latch, "ttl").value();
    const auto answer = std::to_string(left);
    remember(s, generation + " " + answer);
    s.keys.hset(latch, "count", answer);
    s.keys.pexpire(latch, to_number(ttl));
    if (left == 0 && count != "0") {
        if (parties != "0") begin(s, *parties, *parties, ttl);
        if (s.bug != planted::latch_opens_silently)
            s.publish(s.arg[5], "open " + first + " " + generation + " " + s.key[1]);
    }
    return array_reply({string_reply(generation), string_reply(answer)});
}

reply latch_look(script_call& s) {
    std::vector<reply> found;
    for (const char* const field : {"count", "generation", "first", "parties"}) {
        const auto value = s.keys.hget(s.key[0], field);
        if (!value) return nil_reply();
        found.push_back(string_reply(*value));
    }
    found.push_back(integer_reply(s.keys.pttl(s.key[0])));
    return array_reply(std::move(found));
}

reply latch_reset(script_call& s) {
    static_cast<void>(s.keys.hget(s.key[0], "count"));
    if (!s.keys.del(s.key[0])) return integer_reply(0);
    s.publish(s.arg[1], "gone");
    return integer_reply(1);
}

// Redisson's latch is a number under its name, and gone at 0.
reply redisson_set(script_call& s) {
    if (s.keys.exists(s.key[0])) {
        static_cast<void>(s.keys.get(s.key[0]));
        return integer_reply(0);
    }
    s.keys.set(s.key[0], s.arg[0], std::nullopt, false);
    s.publish(s.arg[1], "1");
    return integer_reply(1);
}

reply redisson_down(script_call& s) {
    if (!s.keys.get(s.key[0])) return integer_reply(0);
    const auto left = s.keys.incrby(s.key[0], -to_number(s.arg[0]));
    if (left <= 0) {
        s.keys.del(s.key[0]);
        s.publish(s.arg[1], "0");
    }
    return integer_reply(std::max<std::int64_t>(left, 0));
}

reply redisson_reset(script_call& s) {
    static_cast<void>(s.keys.get(s.key[0]));
    if (!s.keys.del(s.key[0])) return integer_reply(0);
    s.publish(s.arg[0], "1");
    return integer_reply(1);
}

constexpr std::array<std::pair<std::string_view, twin>, 7> twins{{
    {"latch_set", latch_set},
    {"latch_down", latch_down},
    {"latch_look", latch_look},
    {"latch_reset", latch_reset},
    {"redisson/latch_set", redisson_set},
    {"redisson/latch_down", redisson_down},
    {"redisson/latch_reset", redisson_reset},
}};

}  // namespace

twin find_latch_twin(std::string_view name) noexcept {
    const auto it = std::ranges::find(twins, name, &std::pair<std::string_view, twin>::first);
    return it == twins.end() ? nullptr : it->second;
}

}  // namespace pawl::simulation
