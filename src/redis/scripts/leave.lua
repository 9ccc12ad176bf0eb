-- leave: undoes an acquire whose outcome is unknown, or a wait that was given up: out of the line,
-- and the lock passed on if it had been given; but not where it is held as `kept`.
-- KEYS lock fence queue waiters holders details
-- ARGV floor channel_prefix waiter prefix kept('' = nothing) run
-- -> 1 it had been given | 0
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _holders.lua
--@include _serve.lua
redis.call("ZREM", k.queue, ARGV[3])
redis.call("HDEL", k.waiters, ARGV[3])
local mark = ARGV[4] .. ";"
local value = redis.call("GET", k.lock)
if value and string.sub(value, 1, #mark) == mark then
    if value == ARGV[5] then
        return 0
    end
    serve(k, "free", ARGV[1], ARGV[2])
    return 1
end
local state = settle(k, now_ms())
if state == "exclusive" then
    return 0
end
local owner = owner_of(ARGV[4])
local held = state ~= "free" and redis.call("HGET", k.details, owner)
local given = held and string.match(held, "^%d+ %d+ (.*)$") ~= ARGV[5]
if given and expel(k, owner) then
    state = "free"
end
-- It may have stood before others, who fit now.
serve(k, state, ARGV[1], ARGV[2])
return given and 1 or 0
