-- inspect: KEYS lock fence queue holders details
-- -> {value | false, ms left, token | false, waiters, {owner, when it ends, …}, {field, detail, …},
--     server's ms}
--@include _clock.lua
return {
    redis.call("GET", KEYS[1]),
    redis.call("PTTL", KEYS[1]),
    redis.call("GET", KEYS[2]),
    redis.call("ZCARD", KEYS[3]),
    redis.call("ZRANGE", KEYS[4], 0, -1, "WITHSCORES"),
    redis.call("HGETALL", KEYS[5]),
    string.format("%.0f", now_ms()),
}
