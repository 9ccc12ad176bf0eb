-- read_acquire: joins the readers, or is the first of them, unless somebody writes. All who count
-- and read at the same time have one token; they are told by the minus of their thread, which
-- Java's never have.
-- KEYS lock mine [counter]   ARGV owner ttl_ms   -> {1, token} | {0, ms left}
--@include _lock.lua
--@include _token.lua
local fields, no_hash = fields_of(KEYS[1])
if no_hash then
    return no_hash
end
local mode = redis.call("HGET", KEYS[1], "mode")
if not mode and fields > 0 then
    return of_another_kind(KEYS[1], "readwrite")
end
if mode and mode ~= "read" then
    return of_another_kind(KEYS[1], "readwrite") or {0, redis.call("PTTL", KEYS[1])}
end
local token = nil
if KEYS[3] and mode then
    for _, field in ipairs(redis.call("HKEYS", KEYS[1])) do
        if string.find(field, ":%-%d+$") then
            local last = redis.pcall("GET", KEYS[3])
            token = type(last) == "string" and tonumber(last) or nil
            break
        end
    end
end
if not token then
    local bad
    token, bad = next_token_by_clock(KEYS[3])
    if bad then
        return bad
    end
end
redis.call("HSET", KEYS[1], "mode", "read")
redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
redis.call("SET", KEYS[2], "1", "PX", ARGV[2])
-- The hash lives as long as the longest of its readers.
redis.call("PEXPIRE", KEYS[1], math.max(redis.call("PTTL", KEYS[1]), ARGV[2]))
return {1, token}
