-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_set: begins a generation unless one is counting. A repeated request has the same reply.
-- KEYS latch request(its remembered reply)
-- ARGV limit_ms count ttl_ms publish(unused) channel(unused) since_ms
-- -> 1 begun | 0 a generation is counting | {'late', server's ms} nothing was done
--@include _rights.lua
--@include _latch.lua
-- The server refuses a user without the rights for latches here, before anything is written.
redis.call("HLEN", KEYS[1])
local count = redis.call("HGET", KEYS[1], "count") or "0"
if redis.call("GET", KEYS[2]) then
    return 1
end
local refusal = refusal_of_steps(KEYS[1], KEYS[2])
if refusal then
    return refusal
end
local late = late_reply(ARGV[1], ARGV[6])
if late then
    return late
end
if count ~= "0" then
    return 0
end
remember_reply(KEYS[2], "1", ARGV[1])
begin_generation(KEYS[1], ARGV[2], "0", ARGV[3])
return 1
