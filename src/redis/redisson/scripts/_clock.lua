-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

local function now_ms()
    local time = redis.call("TIME")
    return time[1] * 1000 + math.floor(time[2] / 1000)
end
