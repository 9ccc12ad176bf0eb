-- downgrade: what was held alone is held shared from now on, and the lease begins anew. Says the
-- same when it is asked again.
-- KEYS lock fence queue waiters holders details
-- ARGV value ttl_ms token floor channel_prefix run   -> 1 | 0 it is not the caller's
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _holders.lua
--@include _serve.lua
local now = now_ms()
local owner = owner_of(ARGV[1])
local state = settle(k, now)
if state == "exclusive" and redis.call("GET", k.lock) == ARGV[1] then
    -- First, so that a server without memory for more does not refuse the rest: see `extend`.
    forget_holders(k)
    redis.call("SET", k.lock, "pawl:shared", "PX", ARGV[2])
    redis.call("ZADD", k.holders, string.format("%.0f", now + ARGV[2]), owner)
    redis.call("HSET", k.details, owner, "1 " .. ARGV[3] .. " " .. ARGV[1], "used", 1)
    if ARGV[3] ~= "0" then
        keep_readers_token(k, ARGV[3])
    end
    state = "shared"
elseif state ~= "shared" or not held_beside(k, owner) then
    return 0
else
    extend(k, owner, now, ARGV[2])
end
keep_until_the_last(k)
serve(k, state, ARGV[4], ARGV[5])
return 1
