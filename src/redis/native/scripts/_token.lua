-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Compares decimal numbers of any size; Lua's own numbers round above 2^53. `b` is not negative.
local function is_less(a, b)
    return string.sub(a, 1, 1) == "-" or #a < #b or (#a == #b and a < b)
end

-- The sum of two decimal numbers; each half of it is exact.
local function sum(a, b)
    local low = string.sub(a, -9) + string.sub(b, -9)
    local high = (tonumber(string.sub(a, 1, -10)) or 0) + (tonumber(string.sub(b, 1, -10)) or 0) +
        math.floor(low / 1e9)
    return high == 0 and string.format("%.0f", low) or string.format("%.0f%09.0f", high, low % 1e9)
end

-- The epoch in a token or a floor. They are rounded above 2^53, which changes the epoch of none
-- before 2092: a counter of the clock is that far below 2^47.
local function epoch_of(number)
    return math.floor(number / 2 ^ 47)
end

-- In a cluster. True: since the caller learned the node's epoch, the node was no replica of another
-- one, which may have issued tokens with a higher epoch.
local function is_replication_of(replication)
    local info = redis.call("INFO", "replication")
    return string.find(info, "master_replid:" .. replication, 1, true)
end

-- The node's present epoch. Takes much longer than the whole script otherwise.
local function present_epoch()
    local epoch = string.match(redis.call("CLUSTER", "INFO"), "cluster_my_epoch:(%d+)")
    return math.min(epoch, 65535)
end

-- The next token: the counter plus one, but at least the server's clock in units of 1/65536 s since
-- 2024, and above the floor. So no token is given twice if the server restarts with older data.
-- `floor` is "FLOOR KEEP_MS [REPLICATION]": the lower bound, with the epoch in its upper bits, how
-- long an unused counter is kept, and in a cluster the beginning of the node's replication id. A
-- counter that is ahead of the clock is kept longer, by the time that it is ahead.
local function next_token(fence, floor)
    local lowest, keep_ms, replication = string.match(floor, "^(%d+) (%d+) ?(%x*)$")
    local epoch = epoch_of(lowest)
    redis.call("INCR", fence)
    local token = redis.call("GET", fence)
    -- A counter of a later epoch came with its slot, and so may the node's epoch have grown. It may
    -- have lost its last tokens in a failover: the token needs the epoch of this node.
    if replication ~= "" and
        (not is_replication_of(replication) or epoch_of(token) > epoch) then
        epoch = math.max(epoch, present_epoch())
    end
    local now = redis.call("TIME")
    local units = (now[1] - 1704067200) * 65536 + math.floor(now[2] * 65536 / 1000000)
    local clock = string.format("%.0f", math.max(units, 0))
    if epoch > 0 then
        local base = string.format("%.0f", epoch * 2 ^ 47)
        clock = sum(clock, base)
        lowest = is_less(lowest, base) and base or lowest
    end
    if is_less(token, clock) then
        redis.call("SET", fence, clock)
        token = clock
    end
    if not is_less(lowest, token) then
        redis.call("SET", fence, lowest)
        redis.call("INCR", fence)
        token = redis.call("GET", fence)
    end
    local ahead_ms = math.floor((token - clock) / 65.536)
    redis.call("PEXPIRE", fence, string.format("%.0f", keep_ms + ahead_ms))
    return token
end
