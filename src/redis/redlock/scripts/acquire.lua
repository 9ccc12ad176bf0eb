-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- acquire: takes all these locks at this node if all are free, else none. A client that waits
-- stands in the line of the first name.
-- KEYS member quarantine, then lock fence queue for each
-- ARGV run set ttl_ms keep_ms client place_ms ('' '' = does not wait) floor,
--      then value for each
-- -> {1, incarnation, vector, nonce, counter, …}
--    | {0, ms until the last of them expires; -1 never, holder ('' = free), …}
--    | {"amnesia"} | {"set"} | {"quarantine", ms}
--@include _member.lua
--@include _line.lua
--@include _readers_mark.lua
local refusal = objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local count = (#KEYS - 2) / 3
local longest, busy = -2, {0, 0}
for i = 1, count do
    local stored = redis.pcall("GET", KEYS[3 * i])
    busy[2 + i] = not stored and "" or is_readers_mark(stored) and "readers" or holder_of(stored)
    local left = redis.call("PTTL", KEYS[3 * i])
    if left ~= -2 and longest ~= -1 then
        longest = left == -1 and left or math.max(left, longest)
    end
end
if longest ~= -2 then
    if ARGV[5] ~= "" then
        enqueue_client(KEYS[5], ARGV[5], ARGV[6])
        keep_readers_out(KEYS[3], ARGV[5])
    end
    busy[2] = longest
    return busy
end
local counters = {}
for i = 1, count do
    counters[i] = next_counter(KEYS[3 * i + 1], ARGV[7])
end
local answer = {1, member[4], member[5], member[7]}
for i = 1, count do
    local text = text_of(counters[i])
    raise(KEYS[3 * i + 1], counters[i], ARGV[4])
    redis.call("SET", KEYS[3 * i], ARGV[7 + i] .. ";" .. text, "PX", ARGV[3])
    answer[4 + i] = text
end
if ARGV[5] ~= "" then
    redis.call("ZREM", KEYS[5], ARGV[5])
end
return answer
