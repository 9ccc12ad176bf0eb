-- inspect: KEYS lock fence queue -> {value | false, ms left, token | false, waiters}
return {
    redis.call("GET", KEYS[1]),
    redis.call("PTTL", KEYS[1]),
    redis.call("GET", KEYS[2]),
    redis.call("ZCARD", KEYS[3]),
}
