-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- read_confirm: raises the counter to a reader's token, if the node still has the reader as it
-- granted it, in the same memory. From now on the reader's counter is its token, so that a forced
-- release can tell it from earlier readers.
-- KEYS member quarantine, lock fence queue holders details
-- ARGV run set keep_ms nonce value counter token
-- -> {1, incarnation, vector} | {0} the reader is gone | {"amnesia"} | {"set"} | {"quarantine", ms}
--@include _member.lua
--@include _readers_mark.lua
--@include _readers.lua
local refusal = objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local k, value, token = lock_keys(3), ARGV[5], tonumber(ARGV[7])
local present = counter_of_reader(k, state_of(k, now_ms()), value)
if member[7] ~= ARGV[4] or present ~= tonumber(ARGV[6]) then
    return {0}
end
redis.call("HSET", k.details, owner_of(value), value .. ";" .. ARGV[7])
raise(k.fence, token, ARGV[3])
return {1, member[4], member[5]}
