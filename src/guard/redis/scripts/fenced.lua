-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- fenced: runs commands, unless the resource has seen a later token. It stops at the first command
-- that fails; those before it stay.
-- KEYS fence resource
-- ARGV token, and for each command: the number of its words, its words
-- -> {'accepted', {'ok', reply} or {'error', words} for each command that ran}
--    | {'refused', newest token}
--@include _decimal.lua
local fence, token = KEYS[1], ARGV[1]
local newest = redis.call("GET", fence)
if newest and not is_integer(newest) then
    return redis.error_reply("WRONGTYPE " .. fence .. " contains no fencing token")
end
if newest and is_less(token, newest) then
    return {"refused", newest}
end
if newest ~= token then
    redis.call("SET", fence, token)
end
local result, at = {"accepted"}, 2
while ARGV[at] do
    local count = tonumber(ARGV[at])
    local reply = redis.pcall(unpack(ARGV, at + 1, at + count))
    if type(reply) == "table" and reply.err then
        result[#result + 1] = {"error", reply.err}
        break
    end
    result[#result + 1] = {"ok", reply}
    at = at + count + 1
end
return result
