-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- read_renew: the same as renew, for readers. Other readers raise the counter while this one has
-- the lock, so the counter is compared only if the reader is missing here. A reader that is here
-- may be of old data, and a later writer may have come before the node joined the set: then the
-- token is below the counter with which the node joined. If the lock's key is the writer's with
-- this value, the writer becomes a reader: a downgrade, which each renewal repeats where it is
-- missing. A reader that is missing may have been released since the renewal was sent, while other
-- readers go on: only a renewal that is executed soon restores it.
-- KEYS member quarantine, then lock fence queue holders details for each
-- ARGV run set keep_ms channel_prefix, then value token ttl_ms name not_after_ms restore_until_ms
--      ('' = any time) for each
-- -> {1, {1 extended | 0 refused | -1 unknown | -2 too late, …}, incarnation, vector, nonce,
--    the node's time in ms} | {"amnesia"} | {"set"}
--@include _member.lua
--@include _line.lua
--@include _readers_mark.lua
--@include _readers.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local is_quarantined = redis.call("EXISTS", KEYS[2]) == 1
local now = now_ms()

local function renew_reader(k, value, token_text, ttl_ms, name, not_after, restore_until)
    if not_after ~= "" and now > tonumber(not_after) then
        return -2
    end
    if refusal_of_readers(k) then
        return -1
    end
    local token = tonumber(token_text)
    local state, stored = state_of(k, now)
    local present = counter_of_reader(k, state, value)
    if present and present > token then
        -- A late copy of its acquire.
        if remove_readers(k, {owner_of(value)}) then
            wake_next(k.queue, ARGV[4], name)
        end
        return 0
    elseif present then
        if tonumber(member[6] or 0) > token then
            return 0
        end
    else
        local of_writer = counter_in(stored, value)
        if state == "writer" and not (of_writer and of_writer <= token) then
            return 0
        elseif counter(k.fence) > token then
            return 0
        elseif not of_writer and
            (is_quarantined or restore_until ~= "" and now > tonumber(restore_until)) then
            return -1
        end
        if of_writer then
            state = "free"
        end
    end
    if stored then
        -- A server without memory accepts the other writes after this one, which needs none.
        redis.call("PEXPIRE", k.lock, ttl_ms)
    end
    put_reader(k, state, value, token_text, ttl_ms, now)
    redis.call("PEXPIRE", k.fence, ARGV[3])
    raise(k.fence, token, ARGV[3])
    return 1
end

local answers = {}
for i = 1, (#KEYS - 2) / 5 do
    local is_answered, answer = pcall(renew_reader, lock_keys(5 * i - 2), ARGV[6 * i - 1],
        ARGV[6 * i], ARGV[6 * i + 1], ARGV[6 * i + 2], ARGV[6 * i + 3], ARGV[6 * i + 4])
    answers[i] = is_answered and answer or -1
end
return {1, answers, member[4], member[5], member[7], now}
