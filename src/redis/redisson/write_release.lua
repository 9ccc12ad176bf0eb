-- write_release: the writer leaves; `1` tells all who wait, as many may read now. Java wakes by it
-- only threads that sleep already: `0` is for one that is about to.
-- KEYS lock [latch]   ARGV owner verb channel latch_ms
-- -> 1 released | 0 gone | 2 somebody else's
if KEYS[2] and redis.call("GET", KEYS[2]) then
    return 1
end
if redis.call("HDEL", KEYS[1], ARGV[1]) == 0 then
    return redis.call("EXISTS", KEYS[1]) * 2
end
redis.call("DEL", KEYS[1])
redis.call(ARGV[2], ARGV[3], "1")
redis.call(ARGV[2], ARGV[3], "0")
if KEYS[2] then
    redis.call("SET", KEYS[2], "1", "PX", ARGV[4])
end
return 1
