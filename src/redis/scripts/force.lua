-- force: takes the lock from whoever holds it, tells the victim, and passes the lock on with a
-- higher token.
-- KEYS lock fence queue waiters   ARGV floor channel_prefix   -> 1 | 0 nobody had it
--@include _token.lua
--@include _clock.lua
--@include _pass_on.lua
local value = redis.call("GET", KEYS[1])
if not value then
    return 0
end
local owner, client = string.match(value, "^(%x+);(%x+);")
if owner then
    redis.call("PUBLISH", ARGV[2] .. client, "lost " .. owner)
end
next_token(KEYS[2], ARGV[1])
pass_on(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2])
return 1
