-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_down: counts down, once for each request, and notifies all waiters at 0. With parties it is
-- a barrier: the first arrival begins a generation, and the last one begins the next.
-- KEYS latch request(its remembered reply)
-- ARGV limit_ms steps parties('0' = latch) ttl_ms publish('PUBLISH' or 'SPUBLISH') channel since_ms
-- -> {generation, left} | {'', parties} the barrier has this other number of parties
--    | false there is no latch | {'late', server's ms} nothing was done
--@include _rights.lua
--@include _latch.lua
local latch, parties = KEYS[1], ARGV[3]
local state = redis.call("HMGET", latch, "count", "parties")
local remembered = redis.call("GET", KEYS[2])
if remembered then
    local generation, left = string.match(remembered, "^(%d+) (%d+)$")
    return {generation, left}
end
local late = late_reply(ARGV[1], ARGV[7])
if late then
    return late
end
local refusal = refusal_of_steps(latch, KEYS[2], {ARGV[5], ARGV[6]})
if refusal then
    return refusal
end
-- With a first write that needs no memory, a server without memory accepts the other writes.
redis.call("DEL", KEYS[2])
if parties ~= "0" then
    if (state[1] or "0") == "0" then
        begin_generation(latch, parties, parties, ARGV[4])
        state = {parties, parties}
    elseif state[2] ~= parties then
        return {"", state[2]}
    end
    redis.call("HSET", latch, "ttl", ARGV[4])
elseif not state[1] then
    return false
end
local left = math.max(tonumber(state[1]) - tonumber(ARGV[2]), 0)
local fields = redis.call("HMGET", latch, "generation", "first", "ttl")
local generation, first, ttl = fields[1], fields[2], fields[3]
local answer = string.format("%.0f", left)
remember_reply(KEYS[2], generation .. " " .. answer, ARGV[1])
redis.call("HSET", latch, "count", answer)
redis.call("PEXPIRE", latch, ttl)
if left == 0 and state[1] ~= "0" then
    if state[2] ~= "0" then
        begin_generation(latch, state[2], state[2], ttl)
    end
    redis.call(ARGV[5], ARGV[6], "open " .. first .. " " .. generation .. " " .. KEYS[2])
end
return {generation, answer}
