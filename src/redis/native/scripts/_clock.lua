-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

local function now_ms()
    local now = redis.call("TIME")
    return now[1] * 1000 + math.floor(now[2] / 1000)
end
