-- renew: extends each lock that is still the caller's; never makes one.
-- KEYS lock…   ARGV owner ttl_ms, for each lock   -> {1 | 0, …}
local answers = {}
for i = 1, #KEYS do
    -- A key of another type is an error, and so no 1 either.
    if redis.pcall("HEXISTS", KEYS[i], ARGV[2 * i - 1]) == 1 then
        answers[i] = redis.call("PEXPIRE", KEYS[i], ARGV[2 * i])
    else
        answers[i] = 0
    end
end
return answers
