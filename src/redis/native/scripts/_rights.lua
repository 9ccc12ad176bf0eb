-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- For scripts that must not end between two writes: whether the user may use all these commands,
-- each with the key or channel behind it. Before Redis 7 no script can ask, and the answer is true.
local function may_all(commands)
    for i = 1, redis.acl_check_cmd and #commands or 0, 2 do
        if not redis.acl_check_cmd(commands[i], commands[i + 1]) then
            return false
        end
    end
    return true
end
