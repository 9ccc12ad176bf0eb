-- latch_set: begins a generation unless one is counting. Said again with the same request, it
-- answers as it did.
-- KEYS latch request   ARGV count ttl_ms remember_ms publish   -> 1 begun | 0 one is counting
--@include _latch.lua
local count = redis.call("HGET", KEYS[1], "count") or "0"
if redis.call("GET", KEYS[2]) then
    return 1
end
if count ~= "0" then
    return 0
end
redis.call("SET", KEYS[2], "1", "PX", ARGV[3])
begin(KEYS[1], ARGV[1], "0", ARGV[2])
return 1
