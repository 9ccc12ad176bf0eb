-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- classic_renew: extends each hold that this node still has. It restores none: without a counter,
-- nobody knows whether another holder was there meanwhile. A renewal that the node executes after
-- the client's deadline does nothing.
-- KEYS lock for each   ARGV layout, then value ttl_ms not_after_ms ('' = any time) for each
-- -> {1, {1 extended | 0 refused | -2 too late, …}, the node's time in ms}
--@include _classic.lua
--@include _readers_mark.lua
local now = now_ms()
local answers = {}
for i = 1, #KEYS do
    local not_after = ARGV[3 * i + 1]
    if not_after ~= "" and now > tonumber(not_after) then
        answers[i] = -2
    else
        answers[i] = has_value(KEYS[i], ARGV[3 * i - 1]) and
            redis.call("PEXPIRE", KEYS[i], ARGV[3 * i]) or 0
    end
end
return {1, answers, now}
