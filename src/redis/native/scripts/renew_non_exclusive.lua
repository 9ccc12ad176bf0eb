-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- renew_non_exclusive: extends shared holds and permits that still exist; never makes one.
-- KEYS lock holders details, for each   ARGV value ttl_ms, for each
-- -> {1 extended | 0 it does not exist | -1 unknown | -2 nobody has the lock, …}
--@include _clock.lua
--@include _rights.lua
--@include _holders.lua
local answers = {}
local now = now_ms()
for i = 1, #KEYS / 3 do
    local k = {lock = KEYS[3 * i - 2], holders = KEYS[3 * i - 1], details = KEYS[3 * i]}
    local value = ARGV[2 * i - 1]
    local owner = owner_of(value)
    local mark = redis.pcall("GET", k.lock)
    local detail, ends_at
    if type(mark) == "string" and marks[mark] then
        detail, ends_at = holder_details(k, owner)
    end
    local is_unknown = type(mark) == "table" and not string.find(mark.err, "WRONGTYPE", 1, true)
    answers[i] = is_unknown and -1 or mark and 0 or -2
    if is_same_grant(detail, value) and tonumber(ends_at) > now then
        extend_holder(k, owner, now, ARGV[2 * i])
        expire_with_last_holder(k)
        answers[i] = 1
    end
end
return answers
