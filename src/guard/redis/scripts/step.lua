-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- step: adds to a counter if its value so far is within a bound, and only once for each id.
-- KEYS counter [step(the remembered step of the id)]
-- ARGV amount(may be negative) bound side('floor': the value must be at least the bound; 'ceiling')
--      [keep_ms]
-- -> {'counted', value} | {'refused', value} | {'repeated', value then} the id was counted before
--    | {'other', amount then} the id was counted for another amount | false there is no counter
--@include _decimal.lua
local counter, step = KEYS[1], KEYS[2]
local amount, bound = ARGV[1], ARGV[2]
if step then
    local remembered = redis.call("GET", step)
    if remembered then
        local known, value = string.match(remembered, "^(%-?%d+) (%-?%d+)$")
        if not value then
            return redis.error_reply("WRONGTYPE " .. step .. " contains no step of a counter")
        end
        return known == amount and {"repeated", value} or {"other", known}
    end
end
local value = redis.call("GET", counter)
if not value then
    return false
end
if not is_integer(value) then
    return redis.error_reply("ERR value is not an integer or out of range")
end
local is_outside = is_less(value, bound)
if ARGV[3] == "ceiling" then
    is_outside = is_less(bound, value)
end
if is_outside then
    return {"refused", value}
end
-- A server without memory refuses the first write only, so nothing is half done. What is left if
-- both INCRBY and DEL are refused has no value, and later calls refuse it.
if step then
    redis.call("SET", step, amount, "PX", ARGV[4])
end
local reply = redis.pcall("INCRBY", counter, amount)
if type(reply) == "table" then
    if step then
        redis.call("DEL", step)
    end
    return reply
end
value = redis.call("GET", counter)
if step then
    redis.call("SET", step, amount .. " " .. value, "PX", ARGV[4])
end
return {"counted", value}
