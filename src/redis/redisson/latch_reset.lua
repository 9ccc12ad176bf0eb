-- latch_reset: RCountDownLatch.delete. Java tells of it as of a new count, and so do we.
-- KEYS latch   ARGV channel publish   -> 1 | 0 there was none
redis.call("GET", KEYS[1])
if redis.call("DEL", KEYS[1]) == 0 then
    return 0
end
redis.call(ARGV[2], ARGV[1], "1")
return 1
