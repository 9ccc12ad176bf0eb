-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- While readers have a lock, its key has this mark. A waiting writer adds itself to it,
-- "pawl:readers CLIENT UNTIL", and so keeps new readers out until then, in ms.
local readers_mark = "pawl:readers"
local writer_turn_ms = 2000

local function now_ms()
    local now = redis.call("TIME")
    return now[1] * 1000 + math.floor(now[2] / 1000)
end

local function is_readers_mark(stored)
    return type(stored) == "string" and string.sub(stored, 1, #readers_mark) == readers_mark
end

-- For a waiting writer. It asks again about every second; a dead one does not, and its time ends.
local function keep_readers_out(lock, client)
    if is_readers_mark(redis.pcall("GET", lock)) then
        local until_ms = string.format("%.0f", now_ms() + writer_turn_ms)
        redis.call("SET", lock, readers_mark .. " " .. client .. " " .. until_ms, "KEEPTTL")
    end
end
