-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Tells the first client in the line that still listens. That is a hint: the lock stays free until
-- a client takes it at a majority of the nodes.
local function wake_next(queue, channel_prefix, name)
    local next_client = redis.call("ZPOPMIN", queue)[1]
    while next_client do
        local channel = channel_prefix .. next_client
        redis.call("PUBLISH", channel, "wake " .. name)
        -- Not PUBLISH's count, which includes subscribers of a pattern of channels.
        if redis.call("PUBSUB", "NUMSUB", channel)[2] > 0 then
            return
        end
        next_client = redis.call("ZPOPMIN", queue)[1]
    end
end

-- A client that waits keeps its place when it asks again.
local function enqueue_client(queue, client, place_ms)
    local now = redis.call("TIME")
    redis.call("ZADD", queue, "NX", now[1] .. string.format("%06d", now[2]), client)
    redis.call("PEXPIRE", queue, place_ms)
end

-- Names a holder in a refusal: by its owner, or by a text that no owner can be.
local function holder_of(stored)
    if type(stored) ~= "string" then
        return "other"
    end
    local value = string.sub(stored, 1, 128)
    return string.match(value, "^(%x+);%x+;") or "other " .. string.sub(value, 1, 64)
end
