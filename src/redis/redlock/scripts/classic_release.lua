-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- classic_release: deletes each lock that has this value, and tells the next client in Pawl's line,
-- and Redisson's waiters.
-- KEYS lock queue for each
-- ARGV layout channel_prefix, then value name channel ('' = none of Redisson's) for each
-- -> {1 released | 0 gone | 2 another holder's, …}
--@include _classic.lua
--@include _line.lua
local answers = {}
for i = 1, #KEYS / 2 do
    local lock = KEYS[2 * i - 1]
    if has_value(lock, ARGV[3 * i]) then
        redis.call("DEL", lock)
        wake_next(KEYS[2 * i], ARGV[2], ARGV[3 * i + 1])
        if ARGV[3 * i + 2] ~= "" then
            redis.call("PUBLISH", ARGV[3 * i + 2], "0")
        end
        answers[i] = 1
    else
        answers[i] = redis.call("EXISTS", lock) * 2
    end
end
return answers
