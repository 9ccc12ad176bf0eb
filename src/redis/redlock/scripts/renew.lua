-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- renew: extends each hold that this node still has, and restores one that it has lost, unless the
-- name's counter shows that a later hold may have been there: then even a key that is there may be
-- of old data. A hold with a later counter than its token is a late copy of its acquire: it does
-- not count, and is deleted. During a quarantine nothing is restored. If the data of one lock are
-- damaged, only its outcome is unknown. A renewal that the node executes after the client's
-- deadline does nothing: the client may have ended long ago.
-- KEYS member quarantine, then lock fence queue for each
-- ARGV run set keep_ms channel_prefix, then value token ttl_ms name not_after_ms ('' = any time)
--      for each
-- -> {1, {1 extended | 0 refused | -1 unknown | -2 too late, …}, incarnation, vector, nonce,
--    the node's time in ms} | {"amnesia"} | {"set"}
--@include _member.lua
--@include _line.lua
--@include _readers_mark.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local is_quarantined, now = redis.call("EXISTS", KEYS[2]) == 1, now_ms()

local function renew_lock(lock, fence, queue, value, token_text, ttl_ms, name, not_after)
    if not_after ~= "" and now > tonumber(not_after) then
        return -2
    end
    local token = tonumber(token_text)
    local stored = redis.pcall("GET", lock)
    if type(stored) == "table" then
        -- A key of another type is somebody else's. Any other error says nothing about the lock.
        return string.find(stored.err, "WRONGTYPE", 1, true) and 0 or -1
    elseif not stored then
        -- A quarantined node has no opinion.
        if is_quarantined or counter(fence) > token then
            return is_quarantined and -1 or 0
        end
        redis.call("SET", lock, value .. ";" .. token_text, "PX", ttl_ms)
        raise(fence, token, ARGV[3])
        return 1
    elseif string.sub(stored, 1, #value + 1) ~= value .. ";" then
        return 0
    elseif tonumber(string.sub(stored, #value + 2)) > token then
        redis.call("DEL", lock)
        wake_next(queue, ARGV[4], name)
        return 0
    elseif counter(fence) > token then
        return 0
    end
    redis.call("PEXPIRE", lock, ttl_ms)
    -- Without its counter, the hold could not be told from one before a later hold.
    redis.call("PEXPIRE", fence, ARGV[3])
    raise(fence, token, ARGV[3])
    return 1
end

local answers = {}
for i = 1, (#KEYS - 2) / 3 do
    local is_answered, answer = pcall(renew_lock, KEYS[3 * i], KEYS[3 * i + 1], KEYS[3 * i + 2],
        ARGV[5 * i], ARGV[5 * i + 1], ARGV[5 * i + 2], ARGV[5 * i + 3], ARGV[5 * i + 4])
    answers[i] = is_answered and answer or -1
end
return {1, answers, member[4], member[5], member[7], now}
