#include "twins.hpp"

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
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || stop != text.data() + text.size())
        throw command_error("ERR value is not an integer or out of range");
    return number;
}

// _token.lua
std::string next_token(script_call& s, std::string_view fence, std::string_view floor_text) {
    auto token = s.keys.incr(fence);
    const auto floor = to_number(floor_text);
    if (token <= floor && s.bug != planted::counter_from_one) {
        const auto seconds = s.keys.now_us() / 1'000'000 - 1'704'067'200;
        const auto seed = seconds * 65536 + s.keys.now_us() % 1'000'000 * 65536 / 1'000'000;
        token = std::max(seed, floor + 1);
        s.keys.set(fence, std::to_string(token), 86'400'000, false);
    } else if (token % 64 == 0) {
        s.keys.pexpire(fence, 86'400'000);
    }
    return std::to_string(token);
}

// A planted bug: the number of the holder before.
std::string present_token(script_call& s, std::string_view fence, std::string_view floor) {
    auto token = s.keys.get(fence);
    return token ? *token : next_token(s, fence, floor);
}

struct waiter_record {
    std::int64_t lease;
    std::int64_t window;
    std::string_view prefix;
};

// ^(%d+) (%d+) (.*)$
std::optional<waiter_record> read_record(std::string_view text) {
    const auto digits = [&text]() -> std::optional<std::int64_t> {
        const auto end = text.find_first_not_of("0123456789");
        if (end == 0 || end == text.npos || text[end] != ' ') return std::nullopt;
        const auto number = to_number(text.substr(0, end));
        text.remove_prefix(end + 1);
        return number;
    };
    const auto lease = digits();
    const auto window = lease ? digits() : std::nullopt;
    if (!window) return std::nullopt;
    return waiter_record{*lease, *window, text};
}

struct lock_keys {
    const std::string& lock;
    const std::string& fence;
    const std::string& queue;
    const std::string& waiters;
};

lock_keys keys_of(const script_call& s) { return {s.key[0], s.key[1], s.key[2], s.key[3]}; }

// Gives the lock to this waiter. False: it is dead or gone. Sets `full` where memory forbids any
// hand-off.
bool give(script_call& s, const lock_keys& k, std::string_view first, std::string_view floor,
          std::string_view channel, bool& full) {
    const auto now = std::to_string(s.keys.now_ms());
    const auto record = s.keys.hget(k.waiters, first).value_or("");
    s.keys.hdel(k.waiters, first);
    const auto waiter = read_record(record);
    const bool to_the_dead = s.bug == planted::pass_on_to_the_dead;
    if (!waiter || (waiter->lease <= s.keys.now_ms() && !to_the_dead)) return false;
    try {
        s.keys.set(k.lock, std::string(waiter->prefix) + ";" + now, waiter->window, false);
    } catch (const command_error&) {
        full = true;
        return false;
    }
    const auto token = s.bug == planted::hand_off_keeps_token ? present_token(s, k.fence, floor)
                                                              : next_token(s, k.fence, floor);
    const auto colon = first.find(':');
    if (colon == first.npos) throw command_error("ERR attempt to concatenate a nil value");
    const auto client = first.substr(0, colon);
    const auto owner = first.substr(colon + 1);
    const auto message = "grant " + std::string(owner) + " " + token + " " + now;
    return s.publish(std::string(channel) + std::string(client), message) > 0 || to_the_dead;
}

// _pass_on.lua
void pass_on(script_call& s, std::string_view floor, std::string_view channel) {
    const auto k = keys_of(s);
    bool full = false;
    while (!full && s.bug != planted::release_passes_to_nobody) {
        const auto first = s.keys.zpopmin(k.queue);
        if (!first) break;
        if (give(s, k, *first, floor, channel, full)) return;
    }
    s.keys.del(k.lock);
}

struct place {
    const std::string& member;
    const std::string& prefix;
    const std::string& window;
    const std::string& lease;
};

// _stand_in_line.lua
reply stand_in_line(script_call& s, const place& p) {
    const auto k = keys_of(s);
    const auto lease = to_number(p.lease);
    s.keys.zadd_new(k.queue, static_cast<double>(s.keys.now_us()), p.member);
    const auto until = std::to_string(s.keys.now_ms() + lease);
    s.keys.hset(k.waiters, p.member, until + " " + p.window + " " + p.prefix);
    s.keys.pexpire(k.queue, lease * 2);
    s.keys.pexpire(k.waiters, lease * 2);
    return array_reply({integer_reply(0), integer_reply(s.keys.pttl(k.lock)),
                        string_reply(std::to_string(s.keys.now_ms())),
                        integer_reply(s.keys.zrank(k.queue, p.member).value_or(0))});
}

reply acquire(script_call& s) {
    const auto k = keys_of(s);
    const auto& a = s.arg;
    const auto ttl =
        s.bug == planted::lock_without_end ? std::optional<std::int64_t>() : to_number(a[1]);
    if (s.keys.set(k.lock, a[0], ttl, s.bug != planted::acquire_over_others))
        return array_reply(
            {integer_reply(1), string_reply(a[2].empty() ? "0" : next_token(s, k.fence, a[2]))});
    static_cast<void>(s.keys.get(k.lock));
    if (a[3].empty()) return array_reply({integer_reply(0), integer_reply(s.keys.pttl(k.lock))});
    return stand_in_line(s, {a[3], a[4], a[5], a[6]});
}

bool starts_with_mark(const std::optional<std::string>& value, const std::string& prefix) {
    return value && value->starts_with(prefix + ";");
}

reply look(script_call& s) {
    const auto k = keys_of(s);
    const auto& a = s.arg;
    const auto value = s.keys.get(k.lock);
    if (starts_with_mark(value, a[3])) {
        const auto token = present_token(s, k.fence, a[0]);
        return array_reply({integer_reply(1), string_reply(token),
                            string_reply(value->substr(a[3].size() + 1)),
                            integer_reply(s.keys.pttl(k.lock))});
    }
    auto line = stand_in_line(s, {a[2], a[3], a[4], a[5]});
    if (!value && s.bug != planted::look_hands_on_nothing) {
        pass_on(s, a[0], a[1]);
        line.items[1] = integer_reply(s.keys.pttl(k.lock));
        line.items[3] = integer_reply(s.keys.zrank(k.queue, a[2]).value_or(0));
    }
    return line;
}

reply leave(script_call& s) {
    const auto k = keys_of(s);
    const auto& a = s.arg;
    if (s.bug != planted::leave_keeps_place) {
        s.keys.zrem(k.queue, a[2]);
        s.keys.hdel(k.waiters, a[2]);
    }
    if (starts_with_mark(s.keys.get(k.lock), a[3]) && s.bug != planted::leave_keeps_lock) {
        pass_on(s, a[0], a[1]);
        return integer_reply(1);
    }
    return integer_reply(0);
}

reply release(script_call& s) {
    const auto k = keys_of(s);
    const auto& a = s.arg;
    const auto value = s.keys.get(k.lock);
    if (value != a[0] && s.bug != planted::release_without_compare)
        return array_reply({integer_reply(value ? 2 : 0)});
    if (s.bug == planted::release_leaves_lock) return array_reply({integer_reply(1)});
    const auto& heir = a[3];
    if (!heir.empty()) {
        const auto all = s.keys.zcard(k.queue);
        const auto others = all - (s.keys.zscore(k.queue, heir) ? 1 : 0);
        if (a[6] == "0" || others == 0) {
            s.keys.zrem(k.queue, heir);
            s.keys.hdel(k.waiters, heir);
            s.keys.set(k.lock, a[4], to_number(a[5]), false);
            auto token = s.bug == planted::heir_keeps_token ? present_token(s, k.fence, a[1])
                                                            : next_token(s, k.fence, a[1]);
            return array_reply({integer_reply(1), string_reply(std::move(token))});
        }
    }
    pass_on(s, a[1], a[2]);
    return array_reply({integer_reply(1)});
}

reply renew(script_call& s) {
    std::vector<reply> answers;
    for (std::size_t i = 0; i < s.key.size(); ++i) {
        std::optional<std::string> value;
        try {
            value = s.keys.get(s.key[i]);
        } catch (const command_error&) {
            answers.push_back(integer_reply(0));
            continue;
        }
        if (!value && s.bug == planted::renew_creates)
            s.keys.set(s.key[i], s.arg[2 * i], to_number(s.arg[2 * i + 1]), true);
        const bool ours = value == s.arg[2 * i] || s.bug == planted::renew_without_compare ||
                          s.bug == planted::renew_creates;
        answers.push_back(
            integer_reply(ours && s.keys.pexpire(s.key[i], to_number(s.arg[2 * i + 1])) ? 1 : 0));
    }
    return array_reply(std::move(answers));
}

reply adopt(script_call& s) {
    if (s.keys.get(s.key[0]) != s.arg[0]) return array_reply({integer_reply(0)});
    s.keys.pexpire(s.key[0], to_number(s.arg[1]));
    auto token = s.arg[2].empty() ? "0" : next_token(s, s.key[1], s.arg[2]);
    return array_reply({integer_reply(1), string_reply(std::move(token))});
}

// ^(%x+);(%x+);
std::optional<std::pair<std::string_view, std::string_view>> owner_and_client(
    std::string_view text) {
    const auto hex = [&text]() -> std::string_view {
        const auto end = text.find_first_not_of("0123456789abcdefABCDEF");
        if (end == text.npos || text[end] != ';') return {};
        const auto part = text.substr(0, end);
        text.remove_prefix(end + 1);
        return part;
    };
    const auto owner = hex();
    const auto client = owner.empty() ? owner : hex();
    if (client.empty()) return std::nullopt;
    return std::pair(owner, client);
}

reply force(script_call& s) {
    const auto k = keys_of(s);
    const auto value = s.keys.get(k.lock);
    if (!value) return integer_reply(0);
    const auto who = owner_and_client(*value);
    if (who && s.bug != planted::force_tells_nobody)
        s.publish(s.arg[1] + std::string(who->second), "lost " + std::string(who->first));
    if (s.bug != planted::force_keeps_token) next_token(s, k.fence, s.arg[0]);
    pass_on(s, s.arg[0], s.arg[1]);
    return integer_reply(1);
}

reply inspect(script_call& s) {
    const auto text = [](std::optional<std::string> what) {
        return what ? string_reply(std::move(*what)) : nil_reply();
    };
    std::vector<reply> items;
    items.push_back(text(s.keys.get(s.key[0])));
    items.push_back(integer_reply(s.keys.pttl(s.key[0])));
    items.push_back(text(s.keys.get(s.key[1])));
    items.push_back(integer_reply(s.keys.zcard(s.key[2])));
    return array_reply(std::move(items));
}

constexpr std::array<std::pair<std::string_view, twin>, 8> twins{{
    {"acquire", acquire},
    {"look", look},
    {"leave", leave},
    {"release", release},
    {"renew", renew},
    {"adopt", adopt},
    {"force", force},
    {"inspect", inspect},
}};

}  // namespace

twin find_twin(std::string_view name) noexcept {
    const auto it = std::ranges::find(twins, name, &std::pair<std::string_view, twin>::first);
    return it == twins.end() ? find_latch_twin(name) : it->second;
}

}  // namespace pawl::simulation
