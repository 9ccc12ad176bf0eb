-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- renew: extends each hold that is still the caller's; never makes one.
-- KEYS lock, for each   ARGV value ttl_ms, for each
-- -> {1 extended | 0 it is another's | -1 unknown | -2 nobody's, …}
local answers = {}
for i = 1, #KEYS do
    local value = redis.pcall("GET", KEYS[i])
    if value == ARGV[2 * i - 1] then
        answers[i] = redis.call("PEXPIRE", KEYS[i], ARGV[2 * i])
    else
        -- A key of another type is somebody else's. Any other error says nothing about the lock.
        local is_unknown = type(value) == "table" and
            not string.find(value.err, "WRONGTYPE", 1, true)
        answers[i] = is_unknown and -1 or value and 0 or -2
    end
end
return answers
