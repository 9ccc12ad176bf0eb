-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

local function ask_to_refresh(channel, member)
    local client, owner = string.match(member, "^([^:]*):(.*)$")
    redis.call("PUBLISH", channel .. (client or ""), "look " .. (owner or ""))
end

local function ask_first_waiter_to_refresh(k, channel)
    local first = redis.call("ZRANGE", k.queue, 0, 0)[1]
    if first then
        ask_to_refresh(channel, first)
    end
end

-- For a waiter that has a long place and may not keep it: it was the first behind an exclusive
-- holder, and now delays the waiters behind it; or it was far from the head, and is near; or the
-- end of its place was written before the server's clock was set back. Ends the place in 1.9 s, and
-- asks for a refresh: a live waiter keeps its place, a dead one loses it.
-- `record_rest`: the waiter's record after the end of its place.
local function hurry_waiter(k, member, place_end, record_rest, channel, now)
    if tonumber(place_end) > now + 2000 then
        redis.call("HSET", k.waiters, member, string.format("%.0f", now + 1900) .. record_rest)
        ask_to_refresh(channel, member)
    end
end

-- The waiters near the head have short places and refresh about once a second, so that some of them
-- notice the end of a lease. The waiters behind them are far: they have long places, refresh
-- rarely, and do not know when they come near.
local near_waiters = 8

-- Call this after `count` waiters have left the queue: as many others may have come near.
local function hurry_near_waiters(k, count, channel, now)
    local first = math.max(near_waiters - count, 0)
    local members = count > 0 and redis.call("ZRANGE", k.queue, first, near_waiters - 1) or {}
    for _, member in ipairs(members) do
        local record = redis.call("HGET", k.waiters, member) or ""
        local place_end = string.match(record, "^%d+")
        if place_end then
            hurry_waiter(k, member, place_end, string.sub(record, #place_end + 1), channel, now)
        end
    end
end

-- A script admits at most so many readers or waiters for permits: a release that admits thousands
-- must not keep the server busy. The first waiter behind them refreshes at once, and so admits the
-- next ones.
local grants_at_once = 256

-- The claim window of a reader or of permits. Clients that get thousands of grants need more time
-- to confirm each, so the window grows by a quarter for each `grants_at_once` holders and waiters.
local function window_in_crowd(k, claim_window_ms)
    local crowd = redis.call("ZCARD", k.holders) + redis.call("ZCARD", k.queue)
    local quarters = math.min(math.floor(crowd / grants_at_once), 32)
    return math.floor(claim_window_ms * (1 + quarters / 4))
end

-- Grants the lock from the head of the queue: to one exclusive waiter, all adjacent readers, or
-- waiters for permits while there are enough. Removes waiters whose place has ended, or whose
-- client does not listen. A grant lasts for a short claim window: if its waiter is frozen, the lock
-- moves on when the window ends. `state`: from `current_state`; or "free", although the key still
-- has the value of the hold just released. In state "free" the first waiter always leaves the
-- queue, so it is popped at once.
-- -> the state afterwards
local function grant_waiters(k, state, floor, channel)
    local now = now_ms()
    local removed, granted = 0, 0
    while state ~= "exclusive" do
        local first
        if state == "free" then
            first = redis.call("ZPOPMIN", k.queue)[1]
        else
            first = redis.call("ZRANGE", k.queue, 0, 0)[1]
        end
        if not first then
            break
        end
        local record = redis.call("HGET", k.waiters, first) or ""
        local place_end, claim_window_ms, mode, value_prefix =
            string.match(record, "^(%d+) (%d+) (%l%d*) (.*)$")
        local client, owner = string.match(first, "^([^:]*):(.*)$")
        local is_alive = client and place_end and tonumber(place_end) > now
        local is_granted = is_alive and can_be_granted(k, state, mode)
        if state ~= "free" then
            if is_alive and not is_granted then
                local record_rest = string.sub(record, #place_end + 1)
                hurry_waiter(k, first, place_end, record_rest, channel, now)
                break
            end
            redis.call("ZREM", k.queue, first)
        end
        redis.call("HDEL", k.waiters, first)
        removed = removed + 1
        if is_granted then
            local now_text = string.format("%.0f", now)
            local value = value_prefix .. ";" .. now_text
            local token, window
            if mode ~= "x" then
                window = window_in_crowd(k, claim_window_ms)
                token = add_holder(k, state, mode, owner, value, window, floor, now)
            elseif not redis.pcall("SET", k.lock, value, "PX", claim_window_ms).err then
                token = next_token(k.fence, floor)
            end
            -- The server has no memory for a grant, or the user no right. A free lock's key is
            -- deleted below.
            if not token then
                break
            end
            local message = "grant " .. owner .. " " .. token .. " " .. now_text
            if window and window > tonumber(claim_window_ms) then
                message = message .. " " .. window
            end
            redis.call("PUBLISH", channel .. client, message)
            -- Not PUBLISH's count, which includes subscribers of a pattern of channels.
            if redis.call("PUBSUB", "NUMSUB", channel .. client)[2] > 0 then
                state = mode == "x" and "exclusive" or mode == "s" and "shared" or "permits"
                granted = granted + 1
                if granted == grants_at_once then
                    ask_first_waiter_to_refresh(k, channel)
                    break
                end
            -- Nobody listens. The next grant overwrites an exclusive one, or the DEL below ends it.
            elseif mode ~= "x" and remove_holder(k, owner) then
                state = "free"
            end
        end
    end
    if state == "free" then
        redis.call("DEL", k.lock)
    end
    hurry_near_waiters(k, removed, channel, now)
    return state
end
