-- latch_down: RCountDownLatch.countDown, by more than one too.
-- KEYS latch   ARGV steps channel publish   -> what is left
if not redis.call("GET", KEYS[1]) then
    return 0
end
local left = redis.call("DECRBY", KEYS[1], ARGV[1])
if left <= 0 then
    redis.call("DEL", KEYS[1])
    redis.call(ARGV[3], ARGV[2], "0")
end
return math.max(left, 0)
