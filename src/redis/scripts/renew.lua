-- renew: extends each lock that is still the caller's; never makes one.
-- KEYS lock…   ARGV value ttl_ms, for each lock   -> {1 | 0 | -1 not known, …}
local answers = {}
for i = 1, #KEYS do
    local value = redis.pcall("GET", KEYS[i])
    if value == ARGV[2 * i - 1] then
        answers[i] = redis.call("PEXPIRE", KEYS[i], ARGV[2 * i])
    else
        -- What is of another type is somebody else's; any other error says nothing about the lock.
        local failed = type(value) == "table" and not string.find(value.err, "WRONGTYPE", 1, true)
        answers[i] = failed and -1 or 0
    end
end
return answers
