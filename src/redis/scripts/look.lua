-- look: a waiter's refresh. Finds a grant whose message was lost, serves the line where a lease
-- ended by itself, and keeps the place in line.
-- KEYS lock fence queue waiters holders details
-- ARGV floor channel_prefix waiter prefix window_ms lease_ms want of(0 = as it is kept) run
-- -> {1, token, since_ms, ms left} it is the caller's
--    | {0, ms until something ends, server ms, rank}
--    | {2, n} fewer permits than wanted | {4} no n is kept
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _holders.lua
--@include _serve.lua
--@include _stand_in_line.lua
--@include _ends_in.lua
--@include _put_out_the_dead.lua
local floor, member, want = ARGV[1], ARGV[3], ARGV[7]
local mark = ARGV[4] .. ";"
local value = redis.call("GET", k.lock)
if value and string.sub(value, 1, #mark) == mark then
    local token = redis.call("GET", k.fence) or next_token(k.fence, floor)
    return {1, token, string.sub(value, #mark + 1), redis.call("PTTL", k.lock)}
end
local now = now_ms()
local state = settle(k, now)
local owner = owner_of(ARGV[4])
if state == "shared" or state == "permits" then
    local detail, ends = held_beside(k, owner)
    if detail then
        local token, since = string.match(detail, "^%d+ (%d+) .*;(%d+)$")
        return {1, token or "0", since or "0", ends - now}
    end
end
local permits = tonumber(string.match(want, "^p(%d+)$"))
if permits then
    local n = permits_in_all(k, ARGV[8])
    if permits > n then
        redis.call("ZREM", k.queue, member)
        redis.call("HDEL", k.waiters, member)
        return n == 0 and {4} or {2, n}
    end
end
-- A place that there is already is kept also where the server has no memory for more: see `extend`.
if redis.call("ZSCORE", k.queue, member) then
    redis.call("PEXPIRE", k.queue, ARGV[6])
end
local line = stand_in_line(k, member, ARGV[4], ARGV[5], ARGV[6], want)
if state ~= "exclusive" then
    state = serve(k, state, floor, ARGV[2])
    line[2] = ends_in(k, state, member, now)
    line[4] = redis.call("ZRANK", k.queue, member) or 0
elseif put_out_the_dead(k, now, ARGV[6]) then
    line[4] = redis.call("ZRANK", k.queue, member) or 0
end
return line
