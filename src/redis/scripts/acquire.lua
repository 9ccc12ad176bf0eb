-- acquire: takes the lock alone if it is free, else stands in line where a waiter is named.
-- KEYS lock fence queue waiters
-- ARGV value ttl_ms floor('' = no token) waiter('' = do not wait) prefix window_ms lease_ms
-- -> {1, token} | {0, ms left} | {0, ms left, server ms, rank}
--@include _token.lua
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
    return {1, ARGV[3] ~= "" and next_token(KEYS[2], ARGV[3]) or "0"}
end
-- A key of another type is refused here, before anything is written.
redis.call("GET", KEYS[1])
if ARGV[4] == "" then
    return {0, redis.call("PTTL", KEYS[1])}
end
--@include _stand_in_line.lua
local k = {lock = KEYS[1], queue = KEYS[3], waiters = KEYS[4]}
return stand_in_line(k, ARGV[4], ARGV[5], ARGV[6], ARGV[7], "x")
