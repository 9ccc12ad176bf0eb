-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- acquire_batch: takes all these locks exclusively if all are free, else none.
-- KEYS lock fence, for each   ARGV ttl_ms(once) floor(once; '' = no token) value, for each
-- -> {1, token, …} | {0, index (from 1) of the first that is not free}
--@include _token.lua
for i = 1, #KEYS / 2 do
    if redis.call("GET", KEYS[2 * i - 1]) then
        return {0, i}
    end
end
local answer = {1}
for i = 1, #KEYS / 2 do
    redis.call("SET", KEYS[2 * i - 1], ARGV[2 + i], "PX", ARGV[1])
    answer[1 + i] = ARGV[2] ~= "" and next_token(KEYS[2 * i], ARGV[2]) or "0"
end
return answer
