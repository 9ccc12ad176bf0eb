-- semaphore_release: gives back what the receipt is for, once. An undo, which has no latch, leaves
-- an empty receipt, so that what it undoes cannot be carried out afterwards.
-- KEYS free receipt [latch]   ARGV owner verb channel latch_ms
-- -> 1 released | 0 there was nothing
if KEYS[3] and redis.call("GET", KEYS[3]) then
    return 1
end
local count = tonumber(redis.call("GET", KEYS[2]) or 0)
if count == 0 then
    if not KEYS[3] then
        -- First what needs no memory: then a server that has none does not refuse the rest.
        redis.call("DEL", KEYS[2])
        redis.call("SET", KEYS[2], "0", "PX", 600000)
    end
    return 0
end
redis.call("DEL", KEYS[2])
local free = redis.call("INCRBY", KEYS[1], count)
if free > 0 then
    redis.call(ARGV[2], ARGV[3], free)
end
if KEYS[3] then
    redis.call("SET", KEYS[3], "1", "PX", ARGV[4])
else
    redis.call("SET", KEYS[2], "0", "PX", 600000)
end
return 1
