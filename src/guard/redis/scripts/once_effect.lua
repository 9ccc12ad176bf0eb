-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- once_effect: the caller's effect and the end of its operation, if this claim still has it. The
-- text of the effect takes the place of its line.
-- KEYS record pending and the effect's keys
-- ARGV token keep_ms member largest(bytes of a result) and the effect's arguments
-- -> {'done', result} | {'failed', words of the effect's error}
--    | false another caller has it, or it has ended
local function effect(KEYS, ARGV)
    return "the effect"
end
--@include _once.lua
local record, refusal = read_record(KEYS[1])
if refusal then
    return refusal
end
if not is_claimed_by(record, ARGV[1]) then
    return false
end
-- Nothing is rolled back, so the end is written first: an effect that fails half way is not
-- repeated.
end_record(KEYS[1], KEYS[2], ARGV[3], "3", "the effect did not end", ARGV[2])
local is_done, result = pcall(effect, {unpack(KEYS, 3)}, {unpack(ARGV, 5)})
if is_done and type(result) == "table" and result.err then
    is_done = false
end
if not is_done then
    result = type(result) == "table" and result.err or tostring(result)
    redis.call("HSET", KEYS[1], "result", result)
    return {"failed", result}
end
if type(result) == "table" and result.ok then
    result = result.ok
elseif type(result) == "number" then
    result = string.format("%.17g", result)
elseif type(result) ~= "string" then
    result = ""
end
redis.call("HSET", KEYS[1], "state", "2", "result", result)
if #result > tonumber(ARGV[4]) then
    redis.call("HDEL", KEYS[1], "result")
end
return {"done", result}
