-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- renew: extends each hold that this node still has, and restores one that it has lost, unless the
-- name's counter shows that a later hold may have been there: then even a key that is there may be
-- of old data. A hold with a later counter than its token is a late copy of its acquire: it does
-- not count, and is deleted. During a quarantine nothing is restored.
-- KEYS member quarantine, then lock fence queue for each
-- ARGV run set keep_ms channel_prefix, then value token ttl_ms name for each
-- -> {1, {1 extended | 0 refused | -1 unknown, …}, incarnation, vector} | {"amnesia"} | {"set"}
--@include _member.lua
--@include _line.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local is_quarantined = redis.call("EXISTS", KEYS[2]) == 1
local answers = {}
for i = 1, (#KEYS - 2) / 3 do
    local lock, fence = KEYS[3 * i], KEYS[3 * i + 1]
    local value, token = ARGV[4 * i + 1], tonumber(ARGV[4 * i + 2])
    local stored = redis.pcall("GET", lock)
    if type(stored) == "table" then
        -- A key of another type is somebody else's. Any other error says nothing about the lock.
        answers[i] = string.find(stored.err, "WRONGTYPE", 1, true) and 0 or -1
    elseif not stored then
        -- A quarantined node has no opinion.
        answers[i] = is_quarantined and -1 or counter(fence) <= token and 1 or 0
        if answers[i] == 1 then
            redis.call("SET", lock, value .. ";" .. ARGV[4 * i + 2], "PX", ARGV[4 * i + 3])
            raise(fence, token, ARGV[3])
        end
    elseif string.sub(stored, 1, #value + 1) ~= value .. ";" then
        answers[i] = 0
    elseif tonumber(string.sub(stored, #value + 2)) > token then
        redis.call("DEL", lock)
        wake_next(KEYS[3 * i + 2], ARGV[4], ARGV[4 * i + 4])
        answers[i] = 0
    elseif counter(fence) > token then
        answers[i] = 0
    else
        redis.call("PEXPIRE", lock, ARGV[4 * i + 3])
        -- Without its counter, the hold could not be told from one before a later hold.
        redis.call("PEXPIRE", fence, ARGV[3])
        raise(fence, token, ARGV[3])
        answers[i] = 1
    end
end
return {1, answers, member[4], member[5]}
