-- latch_look: KEYS latch -> {count, generation, first, parties, ms until it is forgotten} | false
local state = redis.call("HMGET", KEYS[1], "count", "generation", "first", "parties")
if not state[1] then
    return false
end
state[5] = redis.call("PTTL", KEYS[1])
return state
