-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- force_release: takes the lock from all its holders, notifies them, and grants it to the next
-- waiters with a higher token. With `expected`, only if a present holder has this token, as
-- `inspect` shows it, and only from holders with this token or smaller ones: readers that came
-- after a restart of the server have a larger one. With `shared` = 1, other libraries' holds have
-- none.
-- KEYS lock fence queue waiters holders details
-- ARGV floor channel_prefix expected ('' = any holder) shared run
-- -> 1 | 0 nothing was released: it was free, or no holder has the token
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _rights.lua
--@include _holders.lua
--@include _grant_waiters.lua
local function notify_loss(value)
    local owner, client = string.match(value, "^(%x+);(%x+);")
    if owner then
        redis.call("PUBLISH", ARGV[2] .. client, "lost " .. owner)
    end
end
if not may_all({
    "DEL", k.lock, "INCR", k.fence, "GET", k.fence, "SET", k.fence, "PEXPIRE", k.fence,
    "ZPOPMIN", k.queue, "HDEL", k.waiters,
}) then
    return redis.error_reply("NOPERM the user has no rights for forced releases")
end
local state = current_state(k, now_ms())
local function has_expected_token()
    if state == "exclusive" then
        local value = redis.call("GET", k.lock)
        local has_token = ARGV[4] == "0" or string.match(value, "^%x+;%x+;")
        return has_token and not marks[value] and redis.call("GET", k.fence) == ARGV[3]
    end
    for _, owner in ipairs(redis.call("ZRANGE", k.holders, 0, -1)) do
        local detail = redis.call("HGET", k.details, owner) or ""
        if string.match(detail, "^%d+ (%d+) ") == ARGV[3] then
            return true
        end
    end
    return false
end

-- Lua's numbers have fewer digits than tokens.
local function is_at_most(token, limit)
    return #token < #limit or #token == #limit and token <= limit
end

local is_free = true
if state == "free" then
    grant_waiters(k, state, ARGV[1], ARGV[2])
    return 0
elseif ARGV[3] ~= "" and not has_expected_token() then
    return 0
elseif state == "exclusive" then
    notify_loss(redis.call("GET", k.lock))
    redis.call("DEL", k.lock)
else
    for _, owner in ipairs(redis.call("ZRANGE", k.holders, 0, -1)) do
        local detail = redis.call("HGET", k.details, owner) or ""
        local token, value = string.match(detail, "^%d+ (%d+) (.*)$")
        if ARGV[3] == "" then
            notify_loss(value or "")
        elseif not token or is_at_most(token, ARGV[3]) then
            notify_loss(value or "")
            is_free = remove_holder(k, owner)
        else
            is_free = false
        end
    end
    if is_free then
        delete_holders(k)
    end
end
if is_free then
    next_token(k.fence, ARGV[1])
    state = "free"
end
grant_waiters(k, state, ARGV[1], ARGV[2])
return 1
