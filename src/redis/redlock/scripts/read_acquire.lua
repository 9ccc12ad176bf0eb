-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- read_acquire: adds a reader if no writer has the lock, and no waiting writer keeps readers out.
-- The first reader raises the counter, so that a group of readers has a larger token than the
-- holders before.
-- KEYS member quarantine, lock fence queue holders details
-- ARGV run set ttl_ms keep_ms client place_ms ('' '' = does not wait) floor, then value
--      channel_prefix name
-- -> {1, incarnation, vector, nonce, counter} | {0, ms until the last lease ends; -1 never, holder}
--    | {"amnesia"} | {"set"} | {"quarantine", ms}
--@include _member.lua
--@include _line.lua
--@include _readers_mark.lua
--@include _readers.lua
local k, now, client = lock_keys(3), now_ms(), ARGV[5]
local refusal = objection(ARGV[1], ARGV[2]) or refusal_of_readers(k)
if refusal then
    return refusal
end
local state, stored = state_of(k, now)
local kept_out_until = state == "readers" and string.match(stored, "^%S+ %x+ (%d+)$") or 0
-- The end of a longer turn is of a clock that has been set back since.
if tonumber(kept_out_until) > now + writer_turn_ms then
    kept_out_until = 0
end
if state == "writer" or tonumber(kept_out_until) > now then
    if client ~= "" then
        enqueue_client(k.queue, client, ARGV[6])
    end
    return {0, redis.call("PTTL", k.lock), state == "writer" and holder_of(stored) or "readers"}
end
local number = state == "free" and next_counter(k.fence, ARGV[7]) or counter(k.fence)
local text = text_of(number)
put_reader(k, state, ARGV[8], text, ARGV[3], now)
raise(k.fence, number, ARGV[4])
if client ~= "" then
    redis.call("ZREM", k.queue, client)
end
-- The next client in the line may be a reader, too.
wake_next(k.queue, ARGV[9], ARGV[10])
return {1, member[4], member[5], member[7], text}
