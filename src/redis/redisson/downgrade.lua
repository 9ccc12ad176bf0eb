-- downgrade: who writes goes on as a reader, in one step, and all who wait to read may come in. May
-- be said again.
-- KEYS lock mine   ARGV writer reader ttl_ms verb channel   -> 1 | 0 it was not ours
if redis.call("HDEL", KEYS[1], ARGV[1]) == 1 then
    redis.call("HSET", KEYS[1], "mode", "read")
    redis.call("HINCRBY", KEYS[1], ARGV[2], 1)
elseif redis.call("HEXISTS", KEYS[1], ARGV[2]) == 0 then
    return 0
end
redis.call("SET", KEYS[2], "1", "PX", ARGV[3])
redis.call("PEXPIRE", KEYS[1], math.max(redis.call("PTTL", KEYS[1]), ARGV[3]))
redis.call(ARGV[4], ARGV[5], "1")
redis.call(ARGV[4], ARGV[5], "0")
return 1
