-- resize: how many permits there are from now on.
-- KEYS lock fence queue waiters holders details   ARGV n floor channel_prefix run   -> 1
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _holders.lua
--@include _serve.lua
local state = settle(k, now_ms())
redis.call("HSET", k.details, "n", ARGV[1])
redis.call("PEXPIRE", k.details, a_day)
serve(k, state, ARGV[2], ARGV[3])
return 1
