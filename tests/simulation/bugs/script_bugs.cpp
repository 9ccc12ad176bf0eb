// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "script_bugs.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace pawl::simulation {
namespace {

struct replacement {
    injected_bug bug;
    // Empty: of a part, and so in every script that includes it.
    std::string_view script;
    std::string_view wanted, by;
};

constexpr replacement replacements[] = {
    {injected_bug::release_without_compare, "release",  //
     "if value ~= ARGV[1] then", "if false then"},
    {injected_bug::renew_without_compare, "renew",  //
     "if value == ARGV[2 * i - 1] then", "if true then"},
    {injected_bug::renew_creates_lock, "renew",  //
     "if value == ARGV[2 * i - 1] then",
     R"(if not value then
            redis.call("SET", KEYS[i], ARGV[2 * i - 1], "PX", ARGV[2 * i])
        end
        if true then)"},
    {injected_bug::acquire_overwrites_holder, "acquire",  //
     R"(ARGV[1], "NX", "PX")", R"(ARGV[1], "PX")"},
    {injected_bug::lock_without_expiry, "acquire",  //
     R"("NX", "PX", ARGV[2])", R"("NX")"},
    {injected_bug::hand_off_keeps_token, "",  //
     "token = next_token(k.fence, floor)",
     R"(token = redis.call("GET", k.fence) or next_token(k.fence, floor))"},
    {injected_bug::successor_keeps_token, "release",  //
     "return {1, next_token(k.fence, ARGV[2])}",
     R"(return {1, redis.call("GET", k.fence) or next_token(k.fence, ARGV[2])})"},
    {injected_bug::counter_from_one, "",  //
     "if is_less(token, clock) then", "if false then"},
    {injected_bug::counter_from_one, "",  //
     "if not is_less(lowest, token) then", "if false then"},
    {injected_bug::clock_only_for_new_counters, "",  //
     "if is_less(token, clock) then",
     "if is_less(token, clock) and not is_less(lowest, token) then"},
    {injected_bug::force_keeps_token, "force_release",  //
     "next_token(k.fence, ARGV[1])", ""},
    {injected_bug::force_notifies_nobody, "force_release",  //
     "if owner then", "if false then"},
    {injected_bug::grant_to_expired_waiter, "",  //
     "local is_alive = client and place_end and tonumber(place_end) > now",
     "local is_alive = client and place_end"},
    {injected_bug::grant_to_expired_waiter, "",  //
     R"(if redis.call("PUBSUB", "NUMSUB", channel .. client)[2] > 0 then)", "if true then"},
    {injected_bug::release_grants_nobody, "",  //
     R"(while state ~= "exclusive" do)", "while false do"},
    {injected_bug::leave_keeps_queue_entry, "leave",  //
     R"(redis.call("ZREM", k.queue, ARGV[3]))", ""},
    {injected_bug::leave_keeps_queue_entry, "leave",  //
     R"(redis.call("HDEL", k.waiters, ARGV[3]))", ""},
    {injected_bug::leave_keeps_lock, "leave",  //
     "if value == ARGV[5] then", "if true then"},
    {injected_bug::refresh_grants_nobody, "refresh",  //
     R"(if state == "free" or (state ~= "exclusive" and position[4] < near_waiters) then)",
     "if false then"},
    {injected_bug::release_leaves_lock, "release",  //
     R"(if not has_successor and redis.call("EXISTS", KEYS[3]) == 0 then)",
     "do return 1 end if false then"},
    {injected_bug::join_overtakes_queue, "acquire_any_mode",  //
     R"(if redis.call("ZCARD", k.queue) == 0 and can_be_granted)", "if can_be_granted"},
    {injected_bug::writer_beside_readers, "",  //
     R"((mode == "s" and state == "shared"))", R"(state == "shared")"},
    {injected_bug::permits_not_counted, "",  //
     R"(redis.call("HINCRBY", k.details, "used", permits or 1))", ""},
    {injected_bug::expired_holders_stay, "",  //
     R"(if redis.call("EXISTS", k.holders) == 0 then
        return "exclusive")",
     "if true then return state"},
    {injected_bug::non_exclusive_release_grants_nobody, "release_non_exclusive",  //
     "grant_waiters(k, state, ARGV[2], ARGV[3])", ""},
    {injected_bug::downgrade_grants_nobody, "downgrade",  //
     "grant_waiters(k, state, ARGV[4], ARGV[5])", ""},
    {injected_bug::stale_readers_token, "",  //
     "local is_known = run == run_of(floor)", "do return token end"},
    {injected_bug::batch_acquires_partially, "acquire_batch",  //
     "return {0, i}\n    end",
     R"(return {0, i}
    end
    redis.call("SET", KEYS[2 * i - 1], ARGV[2 + i], "PX", ARGV[1]))"},
    {injected_bug::batch_overwrites_holder, "acquire_batch",  //
     R"(if redis.call("GET", KEYS[2 * i - 1]) then)", "if false then"},
    {injected_bug::memory_needed_before_write, "",  //
     R"(redis.call("PEXPIRE", k.lock, ttl))", ""},
    {injected_bug::memory_needed_before_write, "downgrade",  //
     R"(delete_holders(k)
    redis.call("SET", k.lock, "pawl:shared", "PX", ARGV[2]))",
     R"(redis.call("SET", k.lock, "pawl:shared", "PX", ARGV[2])
    delete_holders(k))"},
    {injected_bug::late_steps_count, "",  //
     "return not is_in_time and", "return false and"},
    {injected_bug::late_steps_count, "",  //
     R"(redis.call("SET", request, answer, "PXAT", string.format("%.0f", limit_ms + 10000)))",
     R"(local now = redis.call("TIME")
    local left = limit_ms - now[1] * 1000 - math.floor(now[2] / 1000)
    redis.call("SET", request, answer, "PX", math.max(left, 1)))"},
    // Sometimes the first party of a barrier is treated as the last.
    {injected_bug::barrier_trips_early, "latch_down",  //
     "local left = math.max(tonumber(state[1]) - tonumber(ARGV[2]), 0)",
     R"(local left = math.max(tonumber(state[1]) - tonumber(ARGV[2]), 0)
if parties ~= "0" and redis.call("TIME")[2] % 8 == 0 then
    left = 0
end)"},
    {injected_bug::latch_opens_silently, "latch_down",  //
     R"(redis.call(ARGV[5], ARGV[6], "open " .. first .. " " .. generation .. " " .. KEYS[2]))",
     ""},
    {injected_bug::far_waiters_hurry, "refresh",  //
     "place_ms = ARGV[8]", "place_ms = ARGV[6]"},
    {injected_bug::redisson_release_notifies_nobody, "redisson/release",  //
     R"(redis.call(ARGV[2], ARGV[3], "0"))", ""},
    {injected_bug::redisson_release_without_compare, "redisson/release",  //
     R"(if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then)",
     R"(if redis.call("EXISTS", KEYS[1]) == 0 then)"},
    {injected_bug::redisson_acquire_beside_holder, "redisson/acquire",  //
     "if fields == 0 then", "if fields <= 1 then"},
    {injected_bug::redisson_renew_without_compare, "redisson/renew",  //
     R"(return redis.call("HEXISTS", lock, owner) == 1 and redis.call("PEXPIRE", lock, ttl) or 0)",
     R"(return redis.call("PEXPIRE", lock, ttl))"},
    {injected_bug::redisson_renew_creates_lock, "redisson/renew",  //
     R"(return redis.call("HEXISTS", lock, owner) == 1 and redis.call("PEXPIRE", lock, ttl) or 0)",
     R"(redis.call("HSET", lock, owner, 1) return redis.call("PEXPIRE", lock, ttl))"},
    {injected_bug::redisson_lock_without_expiry, "redisson/acquire",  //
     R"(redis.call("PEXPIRE", KEYS[1], ARGV[2]))", ""},
    {injected_bug::redisson_token_not_counted, "redisson/acquire",  //
     "local token, trouble = next_token(KEYS[3])",
     R"(local token, trouble = KEYS[3] and redis.call("GET", KEYS[3]) or "0", nil)"},
    {injected_bug::redisson_fair_passes_queue, "redisson/fair_acquire",  //
     "if not is_held and (not head or head == owner) then", "if not is_held then"},
    {injected_bug::redisson_fair_timeout_too_short, "redisson/fair_acquire",  //
     "math.max(base, earliest) + wait", "now + wait"},
    {injected_bug::redisson_fair_release_notifies_nobody, "redisson/fair_release",  //
     R"(redis.call(ARGV[2], ARGV[3] .. ":" .. head, "0"))", ""},
    {injected_bug::redisson_writer_beside_readers, "redisson/write_acquire",  //
     "if fields > 0 then",
     R"(if fields > 0 and redis.call("HGET", KEYS[1], "mode") ~= "read" then)"},
    {injected_bug::redisson_reader_ends_other_readers, "redisson/read_release",  //
     "left, endless = math.max(left, reader_left), endless or reader_left == -1", ""},
    {injected_bug::redisson_reader_shortens_lease, "redisson/renew",  //
     R"(redis.call("PEXPIRE", lock, math.max(redis.call("PTTL", lock), ttl)))",
     R"(redis.call("PEXPIRE", lock, ttl))"},
    {injected_bug::redisson_permits_not_counted, "redisson/permits_acquire",  //
     R"(redis.call("DECRBY", KEYS[1], count))", ""},
    {injected_bug::redisson_permits_expire_early, "redisson/permits_acquire",  //
     R"(redis.call("ZRANGEBYSCORE", lent_permits, 0, now))",
     R"(redis.call("ZRANGEBYSCORE", lent_permits, 0, now + 100))"},
    {injected_bug::redisson_permits_release_notifies_nobody, "redisson/permits_release",  //
     "redis.call(ARGV[2], ARGV[3], free)", ""},
    {injected_bug::redisson_permits_release_incomplete, "redisson/permits_release",  //
     "for i = 1, count do\n    local id = id_of(ARGV[1], i)",
     "in_time = 1\nfor i = 2, count do\n    local id = id_of(ARGV[1], i)"},
    {injected_bug::redisson_permits_renewal_lends, "redisson/renew",  //
     R"(if tonumber(redis.call("ZSCORE", lent_permits, id_of(hold, i)) or 0) <= now then)",
     "if false then"},
    {injected_bug::redisson_permits_not_renewed, "redisson/renew",  //
     R"(redis.call("ZADD", lent_permits, now + ttl, id_of(hold, i)))", ""},
    {injected_bug::redisson_permit_ids_collide, "redisson/permits_acquire",  //
     R"(return hold .. struct.pack(">I4", i))",
     R"(return string.sub(hold, 1, 1) .. string.rep("x", 11) .. struct.pack(">I4", i))"},
    // Permits without a lease count as expired, or not as lent, or end with each hold of Pawl's.
    {injected_bug::redisson_endless_permits_expire, "redisson/permits_acquire",  //
     R"(redis.call("ZRANGEBYSCORE", lent_permits, 0, now))",
     R"((function()
        local ids = redis.call("ZRANGEBYSCORE", lent_permits, 0, now)
        for _, id in ipairs(redis.call("ZRANGEBYSCORE", lent_permits, never, never)) do
            ids[#ids + 1] = id
        end
        return ids
    end)())"},
    {injected_bug::redisson_endless_permits_not_lent, "redisson/permits_acquire",  //
     R"(redis.call("ZCARD", KEYS[2]))", R"(redis.call("ZCOUNT", KEYS[2], now, never - 1))"},
    {injected_bug::redisson_endless_permits_released, "redisson/permits_release",  //
     R"(if returned > 0 and redis.call("EXISTS", KEYS[1]) == 1 then)",
     R"(if returned > 0 and redis.call("EXISTS", KEYS[1]) == 1 then
    for _, id in ipairs(redis.call("ZRANGEBYSCORE", KEYS[2], never, never)) do
        returned = returned + redis.call("ZREM", KEYS[2], id)
    end)"},
    {injected_bug::redisson_semaphore_overdrawn, "redisson/semaphore_acquire",  //
     "if free < tonumber(ARGV[5]) or", "if free < 1 or"},
    {injected_bug::redisson_semaphore_release_repeats, "redisson/semaphore_release",  //
     R"(redis.call("DEL", KEYS[2])
local free)",
     "local free"},
    {injected_bug::redisson_semaphore_release_notifies_nobody, "redisson/semaphore_release",  //
     "redis.call(ARGV[2], ARGV[3], free)", ""},
};

std::logic_error misfit(const replacement& each, std::string_view script) {
    return std::logic_error("an injected bug does not fit the script '" + std::string(script) +
                            "': '" + std::string(each.wanted) + "'");
}

// Returns whether the text was there. It may be there only once.
bool replace(const replacement& each, std::string_view script, std::string& text) {
    const auto place = text.find(each.wanted);
    if (place == text.npos) return false;
    if (text.find(each.wanted, place + 1) != text.npos) throw misfit(each, script);
    text.replace(place, each.wanted.size(), each.by);
    return true;
}

}  // namespace

std::string inject_script_bug(injected_bug bug, const known_script& script) {
    std::string text(script.code->text);
    for (const auto& each : replacements) {
        if (each.bug != bug || (!each.script.empty() && each.script != script.name)) continue;
        if (!replace(each, script.name, text) && !each.script.empty())
            throw misfit(each, script.name);
    }
    return text;
}

std::string with_limits(std::string text, const script_limits& limits) {
    const auto set = [&](const std::string& name, int from, int to) {
        const auto begin = "local " + name + " = ";
        const auto place = text.find(begin);
        if (place == text.npos) return;
        const auto line = begin + std::to_string(from) + "\n";
        if (text.compare(place, line.size(), line) != 0)
            throw std::logic_error("the bound " + name + " of the scripts has changed");
        text.replace(place, line.size(), begin + std::to_string(to) + "\n");
    };
    constexpr script_limits usual;
    set("near_waiters", usual.near_waiters, limits.near_waiters);
    set("grants_at_once", usual.grants_at_once, limits.grants_at_once);
    return text;
}

void check_script_bugs() {
    for (const auto& each : replacements) {
        const auto fits = std::ranges::count_if(known_scripts(), [&](const known_script& script) {
            if (!each.script.empty() && each.script != script.name) return false;
            std::string text(script.code->text);
            return replace(each, script.name, text);
        });
        if (fits == 0) throw misfit(each, each.script);
    }
}

}  // namespace pawl::simulation
