-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- classic_renew: extends each hold that this node still has. It restores none: without a counter,
-- nobody knows whether another holder was there meanwhile.
-- KEYS lock for each   ARGV layout, then value ttl_ms for each
-- -> {1, {1 extended | 0 refused, …}}
--@include _classic.lua
local answers = {}
for i = 1, #KEYS do
    answers[i] = has_value(KEYS[i], ARGV[2 * i]) and
        redis.call("PEXPIRE", KEYS[i], ARGV[2 * i + 1]) or 0
end
return {1, answers}
