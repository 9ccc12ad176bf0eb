#include "twins.hpp"

#include "twin_parts.hpp"
#include "twins_latch.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace pawl::simulation {
namespace {

using redis::reply;

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
    return stand_in_line(s, k, {a[3], a[4], a[5], a[6], "x"});
}

// Nothing, or why so many permits cannot be had.
std::optional<reply> refuse_permits(script_call& s, const lock_keys& k, std::int64_t permits,
                                    const std::string& of) {
    const auto n = permits_in_all(s, k, of);
    if (n == 0) return array_reply({integer_reply(4)});
    if (of != "0" && to_number(of) != n) return array_reply({integer_reply(3), integer_reply(n)});
    if (permits > n) return array_reply({integer_reply(2), integer_reply(n)});
    return std::nullopt;
}

reply join(script_call& s) {
    const auto k = keys_of(s);
    const auto& a = s.arg;
    const auto& want = a[9];
    auto state = settle(s, k);
    if (const auto permits = permits_in(want)) {
        if (auto refusal = refuse_permits(s, k, *permits, a[10])) return *refusal;
    }
    state = serve(s, k, state, a[8], a[7]);
    const bool first = s.keys.zcard(k.queue) == 0 || s.bug == planted::join_past_the_line;
    if (first && fits(s, k, state, want)) {
        if (want != "x") {
            auto token = admit(s, k, state, {want, owner_in(a[0]), a[0], a[1], a[2]});
            if (!token) return error_reply("OOM no memory for another holder");
            return array_reply({integer_reply(1), string_reply(std::move(*token))});
        }
        s.keys.set(k.lock, a[0], to_number(a[1]), false);
        return array_reply(
            {integer_reply(1), string_reply(a[2].empty() ? "0" : next_token(s, k.fence, a[2]))});
    }
    if (a[3].empty()) return array_reply({integer_reply(0), integer_reply(s.keys.pttl(k.lock))});
    auto line = stand_in_line(s, k, {a[3], a[4], a[5], a[6], want});
    line.items[1] = integer_reply(ends_in(s, k, state, a[3]));
    return line;
}

bool starts_with_mark(const std::optional<std::string>& value, const std::string& prefix) {
    return value && value->starts_with(prefix + ";");
}

bool beside_others(standing state) {
    return state == standing::shared || state == standing::permits;
}

// .*;(%d+)$
std::string since_in(const std::string& value) {
    const auto end = value.rfind(';');
    const auto since = end == value.npos ? std::string() : value.substr(end + 1);
    const bool digits = since.find_first_not_of("0123456789") == since.npos;
    return digits ? since : std::string();
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
    auto state = settle(s, k);
    const auto owner = owner_in(a[3]);
    if (const auto held = beside_others(state) ? held_beside(s, k, owner) : std::nullopt) {
        const auto detail = read_detail(held->detail);
        const auto since = detail ? since_in(detail->value) : std::string();
        const auto left = held->ends - s.keys.now_ms();
        return array_reply({integer_reply(1), string_reply(since.empty() ? "0" : detail->token),
                            string_reply(since.empty() ? "0" : since), integer_reply(left)});
    }
    if (const auto permits = permits_in(a[6])) {
        const auto n = permits_in_all(s, k, a[7]);
        if (*permits > n) {
            s.keys.zrem(k.queue, a[2]);
            s.keys.hdel(k.waiters, a[2]);
            if (n == 0) return array_reply({integer_reply(4)});
            return array_reply({integer_reply(2), integer_reply(n)});
        }
    }
    if (s.keys.zscore(k.queue, a[2])) s.keys.pexpire(k.queue, to_number(a[5]));
    auto line = stand_in_line(s, k, {a[2], a[3], a[4], a[5], a[6]});
    if (state != standing::exclusive && s.bug != planted::look_hands_on_nothing) {
        state = serve(s, k, state, a[0], a[1]);
        line.items[1] = integer_reply(ends_in(s, k, state, a[2]));
        line.items[3] = integer_reply(s.keys.zrank(k.queue, a[2]).value_or(0));
    } else if (put_out_the_dead(s, k, to_number(a[5]))) {
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
    const auto value = s.keys.get(k.lock);
    if (starts_with_mark(value, a[3])) {
        if (value == a[4] || s.bug == planted::leave_keeps_lock) return integer_reply(0);
        serve(s, k, standing::free, a[0], a[1]);
        return integer_reply(1);
    }
    auto state = settle(s, k);
    if (state == standing::exclusive) return integer_reply(0);
    const auto owner = owner_in(a[3]);
    const auto held = beside_others(state) ? s.keys.hget(k.details, owner) : std::nullopt;
    const auto detail = read_detail(held);
    const bool given = held && !(detail && detail->value == a[4]);
    if (given && expel(s, k, owner)) state = standing::free;
    serve(s, k, state, a[0], a[1]);
    return integer_reply(given ? 1 : 0);
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
    serve(s, k, standing::free, a[1], a[2]);
    return array_reply({integer_reply(1)});
}

reply part(script_call& s) {
    const auto k = keys_of(s);
    const auto& a = s.arg;
    auto state = settle(s, k);
    if (state == standing::exclusive) return array_reply({integer_reply(2)});
    const auto owner = owner_in(a[0]);
    const bool held = beside_others(state) && s.keys.zscore(k.holders, owner);
    if (held && expel(s, k, owner)) state = standing::free;
    if (s.bug != planted::part_serves_nobody) serve(s, k, state, a[1], a[2]);
    return array_reply({integer_reply(held ? 1 : 0)});
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

// `extend` of _holders.lua.
void allow_writes(script_call& s, const lock_keys& k, std::int64_t ttl) {
    if (s.bug != planted::memory_needed_first) s.keys.pexpire(k.lock, ttl);
}

std::int64_t renew_one(script_call& s, const lock_keys& k, const std::string& value,
                       std::int64_t ttl) {
    std::optional<std::string> mark;
    try {
        mark = s.keys.get(k.lock);
    } catch (const command_error&) {
        return 0;
    }
    if (mark != "pawl:shared" && mark != "pawl:permits") return 0;
    const auto owner = owner_in(value);
    const auto held = held_beside(s, k, owner);
    const auto detail = held ? read_detail(held->detail) : std::nullopt;
    if (!detail || detail->value != value || held->ends <= s.keys.now_ms()) return 0;
    allow_writes(s, k, ttl);
    s.keys.zadd(k.holders, static_cast<double>(s.keys.now_ms() + ttl), owner);
    keep_until_the_last(s, k);
    return 1;
}

reply renew_beside(script_call& s) {
    std::vector<reply> answers;
    for (std::size_t i = 0; i < s.key.size() / 3; ++i) {
        lock_keys k;
        k.lock = s.key[3 * i];
        k.holders = s.key[3 * i + 1];
        k.details = s.key[3 * i + 2];
        const auto ttl = to_number(s.arg[2 * i + 1]);
        answers.push_back(integer_reply(renew_one(s, k, s.arg[2 * i], ttl)));
    }
    return array_reply(std::move(answers));
}

reply downgrade(script_call& s) {
    const auto k = keys_of(s);
    const auto& a = s.arg;
    const auto owner = owner_in(a[0]);
    const auto ends = static_cast<double>(s.keys.now_ms() + to_number(a[1]));
    auto state = settle(s, k);
    if (state == standing::exclusive && s.keys.get(k.lock) == a[0]) {
        if (s.bug != planted::memory_needed_first) forget_holders(s, k);
        s.keys.set(k.lock, "pawl:shared", to_number(a[1]), false);
        forget_holders(s, k);
        s.keys.zadd(k.holders, ends, owner);
        s.keys.hset(k.details, owner, "1 " + a[2] + " " + a[0]);
        s.keys.hset(k.details, "used", "1");
        if (a[2] != "0") keep_readers_token(s, k, a[2]);
        state = standing::shared;
    } else if (state != standing::shared || !held_beside(s, k, owner)) {
        return integer_reply(0);
    } else {
        allow_writes(s, k, to_number(a[1]));
        s.keys.zadd(k.holders, ends, owner);
    }
    keep_until_the_last(s, k);
    if (s.bug != planted::downgrade_serves_nobody) serve(s, k, state, a[3], a[4]);
    return integer_reply(1);
}

reply resize(script_call& s) {
    const auto k = keys_of(s);
    const auto state = settle(s, k);
    s.keys.hset(k.details, "n", s.arg[0]);
    s.keys.pexpire(k.details, 86'400'000);
    serve(s, k, state, s.arg[1], s.arg[2]);
    return integer_reply(1);
}

reply several(script_call& s) {
    const auto locks = s.key.size() / 2;
    for (std::size_t i = 0; i < locks; ++i) {
        if (s.keys.get(s.key[2 * i]) && s.bug != planted::several_over_others)
            return array_reply({integer_reply(0), integer_reply(static_cast<std::int64_t>(i + 1))});
        if (s.bug == planted::several_takes_what_is_free)
            s.keys.set(s.key[2 * i], s.arg[2 + i], to_number(s.arg[0]), false);
    }
    std::vector<reply> answer{integer_reply(1)};
    for (std::size_t i = 0; i < locks; ++i) {
        s.keys.set(s.key[2 * i], s.arg[2 + i], to_number(s.arg[0]), false);
        answer.push_back(
            string_reply(s.arg[1].empty() ? "0" : next_token(s, s.key[2 * i + 1], s.arg[1])));
    }
    return array_reply(std::move(answer));
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

void tell_of_force(script_call& s, const std::string& value) {
    const auto who = owner_and_client(value);
    if (who && s.bug != planted::force_tells_nobody)
        s.publish(s.arg[1] + std::string(who->second), "lost " + std::string(who->first));
}

reply force(script_call& s) {
    const auto k = keys_of(s);
    const auto state = settle(s, k);
    if (state == standing::free) {
        serve(s, k, state, s.arg[0], s.arg[1]);
        return integer_reply(0);
    }
    if (state == standing::exclusive) {
        tell_of_force(s, s.keys.get(k.lock).value_or(""));
        s.keys.del(k.lock);
    } else {
        for (const auto& [owner, ends] : s.keys.zrange(k.holders)) {
            const auto detail = read_detail(s.keys.hget(k.details, owner));
            tell_of_force(s, detail ? detail->value : "");
        }
        forget_holders(s, k);
    }
    if (s.bug != planted::force_keeps_token) static_cast<void>(next_token(s, k.fence, s.arg[0]));
    serve(s, k, standing::free, s.arg[0], s.arg[1]);
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
    std::vector<reply> holders;
    for (const auto& [owner, ends] : s.keys.zrange(s.key[3])) {
        holders.push_back(string_reply(owner));
        holders.push_back(string_reply(std::to_string(static_cast<std::int64_t>(ends))));
    }
    std::vector<reply> details;
    for (const auto& [field, value] : s.keys.hgetall(s.key[4])) {
        details.push_back(string_reply(field));
        details.push_back(string_reply(value));
    }
    items.push_back(array_reply(std::move(holders)));
    items.push_back(array_reply(std::move(details)));
    items.push_back(string_reply(std::to_string(s.keys.now_ms())));
    return array_reply(std::move(items));
}

constexpr std::array<std::pair<std::string_view, twin>, 14> twins{{
    {"acquire", acquire},
    {"look", look},
    {"leave", leave},
    {"release", release},
    {"renew", renew},
    {"adopt", adopt},
    {"several", several},
    {"force", force},
    {"inspect", inspect},
    {"join", join},
    {"part", part},
    {"renew_beside", renew_beside},
    {"downgrade", downgrade},
    {"resize", resize},
}};

}  // namespace

twin find_twin(std::string_view name) noexcept {
    const auto it = std::ranges::find(twins, name, &std::pair<std::string_view, twin>::first);
    return it == twins.end() ? find_latch_twin(name) : it->second;
}

}  // namespace pawl::simulation
