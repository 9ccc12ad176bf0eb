-- renew: extends each lock that is still the caller's; never makes one.
-- KEYS lock…   ARGV value ttl_ms, for each lock   -> {1 | 0, …}
local answers = {}
for i = 1, #KEYS do
    local value = redis.pcall("GET", KEYS[i])
    if value == ARGV[2 * i - 1] then
        answers[i] = redis.call("PEXPIRE", KEYS[i], ARGV[2 * i])
    else
        answers[i] = 0
    end
end
return answers
