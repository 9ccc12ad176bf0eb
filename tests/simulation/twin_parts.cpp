#include "twin_parts.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace pawl::simulation {

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
    const auto space = floor_text.find(' ');
    if (space == floor_text.npos) throw command_error("ERR attempt to perform arithmetic on nil");
    const auto lowest = to_number(floor_text.substr(0, space));
    const auto keep_ms = to_number(floor_text.substr(space + 1));
    const auto token = s.keys.incr(fence);
    const auto seconds = s.keys.now_us() / 1'000'000 - 1'704'067'200;
    const auto clock = seconds * 65536 + s.keys.now_us() % 1'000'000 * 65536 / 1'000'000;
    const bool known = s.bug == planted::clock_only_for_new_counters && token > lowest;
    // As Lua reckons it, in doubles.
    const auto ahead = static_cast<double>(std::max(token, std::max(clock, lowest + 1))) -
                       static_cast<double>(clock);
    const auto kept_ms = keep_ms + static_cast<std::int64_t>(std::floor(ahead / 65.536));
    if (token < std::max(clock, lowest + 1) && !known && s.bug != planted::counter_from_one) {
        const auto text = std::to_string(std::max(clock, lowest + 1));
        s.keys.set(fence, text, kept_ms, false);
        return text;
    }
    s.keys.pexpire(fence, kept_ms);
    return s.keys.get(fence).value_or("");
}

std::string present_token(script_call& s, std::string_view fence, std::string_view floor) {
    auto token = s.keys.get(fence);
    return token ? *token : next_token(s, fence, floor);
}

std::string owner_in(std::string_view text) {
    const auto end = text.find_first_not_of("0123456789abcdefABCDEF");
    return std::string(text.substr(0, end));
}

lock_keys keys_of(const script_call& s) {
    const auto at = [&s](std::size_t i) { return i < s.key.size() ? s.key[i] : std::string(); };
    return {at(0), at(1), at(2), at(3), at(4), at(5)};
}

namespace {

constexpr std::int64_t a_day = 86'400'000;

std::optional<std::string> digits_in_front(std::string_view text) {
    const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
    return end == 0 ? std::nullopt : std::optional(std::string(text.substr(0, end)));
}

void keep_details(script_call& s, const lock_keys& k, std::int64_t until) {
    if (s.keys.hget(k.details, "n"))
        s.keys.pexpire(k.details, a_day);
    else
        s.keys.pexpireat(k.details, until);
}

}  // namespace

std::int64_t count_of(script_call& s, const lock_keys& k, std::string_view field) {
    const auto text = s.keys.hget(k.details, field).value_or("0");
    std::int64_t count = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || stop != text.data() + text.size())
        s.keys.hincrby(k.details, field, 0);
    return count;
}

// ^(%d+) (%d+) (.*)$
std::optional<holder_detail> read_detail(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    const auto permits = digits_in_front(*text);
    if (!permits || text->size() <= permits->size() || (*text)[permits->size()] != ' ')
        return std::nullopt;
    const auto rest = std::string_view(*text).substr(permits->size() + 1);
    const auto token = digits_in_front(rest);
    if (!token || rest.size() <= token->size() || rest[token->size()] != ' ') return std::nullopt;
    return holder_detail{*permits, *token, std::string(rest.substr(token->size() + 1))};
}

std::optional<std::int64_t> permits_in(const std::string& want) {
    if (!want.starts_with('p')) return std::nullopt;
    return to_number(std::string_view(want).substr(1));
}

void keep_until_the_last(script_call& s, const lock_keys& k) {
    const auto last = static_cast<std::int64_t>(s.keys.zrange(k.holders).back().second);
    s.keys.pexpireat(k.lock, last);
    s.keys.pexpireat(k.holders, last);
    keep_details(s, k, last);
}

void forget_holders(script_call& s, const lock_keys& k) {
    s.keys.del(k.holders);
    const auto n = s.keys.hget(k.details, "n");
    s.keys.del(k.details);
    if (!n) return;
    s.keys.hset(k.details, "n", *n);
    s.keys.pexpire(k.details, a_day);
}

bool expel(script_call& s, const lock_keys& k, const std::string& owner) {
    const auto text = s.keys.hget(k.details, owner).value_or("");
    const auto permits = digits_in_front(text);
    s.keys.zrem(k.holders, owner);
    if (permits && permits->size() < 11 && text.size() > permits->size() &&
        text[permits->size()] == ' ') {
        s.keys.hdel(k.details, owner);
        s.keys.hincrby(k.details, "used", -to_number(*permits));
    }
    if (s.keys.exists(k.holders)) {
        keep_until_the_last(s, k);
        return false;
    }
    forget_holders(s, k);
    return true;
}

standing settle(script_call& s, const lock_keys& k) {
    const auto value = s.keys.get(k.lock);
    if (!value) return standing::free;
    if (value != "pawl:shared" && value != "pawl:permits") return standing::exclusive;
    if (s.bug == planted::dead_holders_stay)
        return value == "pawl:shared" ? standing::shared : standing::permits;
    if (!s.keys.exists(k.holders)) return standing::exclusive;
    static_cast<void>(count_of(s, k, "used"));
    bool empty = false;
    for (const auto& [owner, ends] : s.keys.zrange(k.holders)) {
        if (ends > static_cast<double>(s.keys.now_ms())) break;
        empty = expel(s, k, owner);
    }
    if (empty) return standing::free;
    return value == "pawl:shared" ? standing::shared : standing::permits;
}

bool fits(script_call& s, const lock_keys& k, standing state, const std::string& want) {
    const auto permits = permits_in(want);
    const bool beside = want == "s" || s.bug == planted::writer_beside_readers;
    if (!permits) return state == standing::free || (beside && state == standing::shared);
    const auto n_text = s.keys.hget(k.details, "n").value_or("0");
    std::int64_t n = 0;
    std::from_chars(n_text.data(), n_text.data() + n_text.size(), n);
    if (state == standing::free) return *permits <= n;
    return state == standing::permits && count_of(s, k, "used") + *permits <= n;
}

std::int64_t permits_in_all(script_call& s, const lock_keys& k, const std::string& of) {
    const auto n = count_of(s, k, "n");
    if (n != 0 || of == "0") return n;
    s.keys.hset(k.details, "n", of);
    s.keys.pexpire(k.details, a_day);
    return to_number(of);
}

std::optional<beside> held_beside(script_call& s, const lock_keys& k, const std::string& owner) {
    const auto ends = s.keys.zscore(k.holders, owner);
    if (!ends) return std::nullopt;
    const auto detail = s.keys.hget(k.details, owner);
    if (!detail) return std::nullopt;
    return beside{*detail, static_cast<std::int64_t>(*ends)};
}

namespace {

std::optional<std::string> readers_token(script_call& s, const lock_keys& k) {
    const auto text = s.keys.hget(k.details, "token").value_or("");
    const auto space = text.find(' ');
    const bool now = s.bug == planted::readers_have_no_number_of_their_own ||
                     (space != text.npos && text.substr(space + 1) == s.arg.back());
    if (space == text.npos || !now) return std::nullopt;
    return text.substr(0, space);
}

}  // namespace

void keep_readers_token(script_call& s, const lock_keys& k, const std::string& token) {
    s.keys.hset(k.details, "token", token + " " + s.arg.back());
}

std::optional<std::string> admit(script_call& s, const lock_keys& k, standing state,
                                 const admission& who) {
    const auto permits = permits_in(who.want);
    const auto ttl = to_number(who.ttl);
    std::string token = "0";
    if (state == standing::free) {
        try {
            s.keys.set(k.lock, permits ? "pawl:permits" : "pawl:shared", ttl, false);
        } catch (const command_error&) {
            return std::nullopt;
        }
        forget_holders(s, k);
    }
    if (!who.floor.empty()) {
        const auto common = permits ? std::nullopt : readers_token(s, k);
        token = common ? *common : next_token(s, k.fence, who.floor);
        if (!permits) keep_readers_token(s, k, token);
    }
    s.keys.zadd(k.holders, static_cast<double>(s.keys.now_ms() + ttl), who.owner);
    const auto count = permits.value_or(1);
    s.keys.hset(k.details, who.owner, std::to_string(count) + " " + token + " " + who.value);
    if (s.bug != planted::permits_not_counted) s.keys.hincrby(k.details, "used", count);
    keep_until_the_last(s, k);
    return token;
}

namespace {

struct waiter_record {
    std::int64_t lease;
    std::string window, want, prefix;
};

// ^(%d+) (%d+) (%l%d*) (.*)$
std::optional<waiter_record> read_record(std::string_view text) {
    const auto word = [&text]() -> std::optional<std::string> {
        const auto end = text.find(' ');
        if (end == text.npos) return std::nullopt;
        const auto found = text.substr(0, end);
        text.remove_prefix(end + 1);
        return std::string(found);
    };
    const auto lease = word();
    const auto window = lease ? word() : std::nullopt;
    const auto want = window ? word() : std::nullopt;
    if (!want) return std::nullopt;
    return waiter_record{to_number(*lease), *window, *want, std::string(text)};
}

// Writes it into the books. Empty: the server has no memory for it.
std::optional<std::string> write_grant(script_call& s, const lock_keys& k, standing state,
                                       const waiter_record& to, const std::string& owner,
                                       std::string_view floor) {
    const auto value = to.prefix + ";" + std::to_string(s.keys.now_ms());
    if (to.want != "x")
        return admit(s, k, state, {to.want, owner, value, to.window, std::string(floor)});
    try {
        s.keys.set(k.lock, value, to_number(to.window), false);
    } catch (const command_error&) {
        return std::nullopt;
    }
    return s.bug == planted::hand_off_keeps_token ? present_token(s, k.fence, floor)
                                                  : next_token(s, k.fence, floor);
}

}  // namespace

namespace {

void bound_place(script_call& s, const lock_keys& k, const std::string& member,
                 const std::string& rest, std::int64_t lease) {
    if (lease <= s.keys.now_ms() + 10'000) return;
    s.keys.hset(k.waiters, member, std::to_string(s.keys.now_ms() + 2'000) + rest);
}

}  // namespace

standing serve(script_call& s, const lock_keys& k, standing state, std::string_view floor,
               std::string_view channel) {
    const bool to_the_dead = s.bug == planted::pass_on_to_the_dead;
    while (state != standing::exclusive && s.bug != planted::release_passes_to_nobody) {
        std::optional<std::string> first;
        if (state == standing::free) {
            first = s.keys.zpopmin(k.queue);
        } else if (const auto line = s.keys.zrange(k.queue); !line.empty()) {
            first = line.front().first;
        }
        if (!first) break;
        const auto record = s.keys.hget(k.waiters, *first).value_or("");
        const auto waiter = read_record(record);
        const auto colon = first->find(':');
        const bool alive =
            waiter && colon != first->npos && (waiter->lease > s.keys.now_ms() || to_the_dead);
        const bool goes = alive && fits(s, k, state, waiter->want);
        if (state != standing::free) {
            if (alive && !goes) {
                bound_place(s, k, *first, record.substr(record.find(' ')), waiter->lease);
                break;
            }
            s.keys.zrem(k.queue, *first);
        }
        s.keys.hdel(k.waiters, *first);
        if (!goes) continue;
        const auto owner = first->substr(colon + 1);
        const auto token = write_grant(s, k, state, *waiter, owner, floor);
        if (!token) break;
        const auto message =
            "grant " + owner + " " + *token + " " + std::to_string(s.keys.now_ms());
        const bool heard =
            s.publish(std::string(channel) + first->substr(0, colon), message) > 0 || to_the_dead;
        if (waiter->want == "x") {
            if (heard) return standing::exclusive;
        } else if (heard) {
            state = waiter->want == "s" ? standing::shared : standing::permits;
        } else if (expel(s, k, owner)) {
            state = standing::free;
        }
    }
    if (state == standing::free) s.keys.del(k.lock);
    return state;
}

reply stand_in_line(script_call& s, const lock_keys& k, const place& p) {
    const auto lease = to_number(p.lease);
    const bool added = s.keys.zadd_new(k.queue, static_cast<double>(s.keys.now_us()), p.member);
    const auto until = std::to_string(s.keys.now_ms() + lease);
    s.keys.hset(k.waiters, p.member, until + " " + p.window + " " + p.want + " " + p.prefix);
    s.keys.pexpire(k.queue, lease * 2);
    s.keys.pexpire(k.waiters, lease * 2);
    auto rank = s.keys.zrank(k.queue, p.member).value_or(0);
    const auto line = s.keys.zrange(k.queue);
    if (added && rank < static_cast<std::int64_t>(line.size()) - 1) {
        rank = static_cast<std::int64_t>(line.size()) - 1;
        s.keys.zadd(k.queue, line.back().second + 1, p.member);
    }
    return array_reply({integer_reply(0), integer_reply(s.keys.pttl(k.lock)),
                        string_reply(std::to_string(s.keys.now_ms())), integer_reply(rank)});
}

bool put_out_the_dead(script_call& s, const lock_keys& k, std::int64_t lease) {
    bool some = false;
    for (int i = 0; i < 64; ++i) {
        const auto line = s.keys.zrange(k.queue);
        if (line.empty()) break;
        const auto& first = line.front().first;
        const auto record = s.keys.hget(k.waiters, first).value_or("");
        const auto ends = digits_in_front(record);
        if (ends && to_number(*ends) + lease > s.keys.now_ms()) {
            bound_place(s, k, first, record.substr(ends->size()), to_number(*ends));
            break;
        }
        s.keys.zrem(k.queue, first);
        s.keys.hdel(k.waiters, first);
        some = true;
    }
    return some;
}

std::int64_t ends_in(script_call& s, const lock_keys& k, standing state,
                     const std::string& member) {
    if (state == standing::free || state == standing::exclusive) return s.keys.pttl(k.lock);
    const auto holders = s.keys.zrange(k.holders);
    if (holders.empty()) return s.keys.pttl(k.lock);
    auto soonest = static_cast<std::int64_t>(holders.front().second);
    const auto line = s.keys.zrange(k.queue);
    if (!line.empty() && line.front().first != member) {
        const auto record = s.keys.hget(k.waiters, line.front().first).value_or("");
        const auto digits = record.substr(0, record.find_first_not_of("0123456789"));
        soonest = std::min(soonest, digits.empty() ? s.keys.now_ms() : to_number(digits));
    }
    return std::max<std::int64_t>(soonest - s.keys.now_ms(), 0);
}

}  // namespace pawl::simulation
