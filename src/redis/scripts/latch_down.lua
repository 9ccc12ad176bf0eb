-- latch_down: takes off, once for each request, and at 0 tells all who wait. With parties it is a
-- barrier: the first one begins, the last one begins the next generation in the same step.
-- KEYS latch request   ARGV steps remember_ms parties('0' = latch) ttl_ms publish
-- -> {generation, left} | {'', parties} others say another number | false not known
--@include _latch.lua
local latch = KEYS[1]
local state = redis.call("HMGET", latch, "count", "parties")
local said = redis.call("GET", KEYS[2])
if said then
    local generation, left = string.match(said, "^(%d+) (%d+)$")
    return {generation, left}
end
if ARGV[3] ~= "0" then
    if (state[1] or "0") == "0" then
        begin(latch, ARGV[3], ARGV[3], ARGV[4])
        state = {ARGV[3], ARGV[3]}
    elseif state[2] ~= ARGV[3] then
        return {"", state[2]}
    end
    redis.call("HSET", latch, "ttl", ARGV[4])
elseif not state[1] then
    return false
end
local left = math.max(tonumber(state[1]) - tonumber(ARGV[1]), 0)
local now = redis.call("HMGET", latch, "generation", "first", "ttl")
local answer = string.format("%.0f", left)
redis.call("SET", KEYS[2], now[1] .. " " .. answer, "PX", ARGV[2])
redis.call("HSET", latch, "count", answer)
redis.call("PEXPIRE", latch, now[3])
if left == 0 and state[1] ~= "0" then
    if state[2] ~= "0" then
        begin(latch, state[2], state[2], now[3])
    end
    redis.call(ARGV[5], latch, "open " .. now[2] .. " " .. now[1])
end
return {now[1], answer}
