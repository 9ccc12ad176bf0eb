-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- inspect: reads any object under the name. `tagged`: the first part of the keys of readers'
-- leases.
-- KEYS lock counter timeouts lent_permits
-- ARGV numsub (or SHARDNUMSUB) lock_channel rwlock_channel semaphore_channel tagged
-- -> {total permits, last token | false, waiters,
--     {{owner, count of entries, ms left (-1: no end), mode, permits}, …},
--     free permits | false, lent permits}
-- At most 4096 holders: src/redis/transport/reply_limits.hpp.
--@include _lock.lua
--@include _clock.lua
--@include _readers.lua
local now = now_ms()
-- The end of a permit without a lease, as Redisson writes it.
local never = 922337203685477
local holders, permits, free, lent_out = {}, 0, false, 0

-- A hash or a sorted set of another program may have millions of entries, and long texts.
local most_entries, longest_text = 4096, 128

local function fields_of(lock)
    if redis.call("HLEN", lock) <= most_entries then
        return redis.call("HGETALL", lock)
    end
    return redis.call("HRANDFIELD", lock, most_entries, "WITHVALUES")
end

local function show(holder)
    if #holders < 4096 then
        table.insert(holders, holder)
    end
end

local function add_owners()
    local fields = fields_of(KEYS[1])
    for i = 1, #fields, 2 do
        local owner, count = fields[i], fields[i + 1]
        if is_owner(owner) then
            local has_mode = redis.call("HGET", KEYS[1], "mode")
            local is_reader = has_mode and not string.find(owner, ":write$")
            local left, exists = redis.call("PTTL", KEYS[1]), true
            -- The field of a reader without a lease stays as long as there are other readers.
            if is_reader then
                left, exists = leases_of_reader(KEYS[1], ARGV[5], owner, count)
            end
            -- A lease of 0 ms exists, too.
            if exists then
                show({string.sub(owner, 1, longest_text), string.sub(count, 1, longest_text), left,
                    is_reader and "shared" or "exclusive", 0})
            end
        end
    end
end

-- All permit ids of one hold of Pawl's begin with the same 12 bytes.
local function add_permits()
    local lent_permits = redis.call("ZRANGE", KEYS[4], -4 * most_entries, -1, "WITHSCORES")
    local by_hold = {}
    for i = 1, #lent_permits, 2 do
        local hold, lent_until = string.sub(lent_permits[i], 1, 12), tonumber(lent_permits[i + 1])
        if not by_hold[hold] and lent_until > now then
            by_hold[hold] = {hold, 1, lent_until < never and lent_until - now or -1, "permits", 0}
            show(by_hold[hold])
        end
        if lent_until > now then
            by_hold[hold][5] = by_hold[hold][5] + 1
        end
    end
    lent_out = redis.call("ZCOUNT", KEYS[4], "(" .. string.format("%.0f", now), "+inf")
    permits = permits + redis.call("ZCARD", KEYS[4])
    free = permits - lent_out
end

local type = redis.call("TYPE", KEYS[1]).ok
if type == "hash" then
    if not any_owner_of(KEYS[1]) then
        return no_lock_error()
    end
    add_owners()
elseif type == "string" then
    permits = tonumber(redis.call("GET", KEYS[1]))
    if not permits then
        return no_lock_error()
    end
    add_permits()
elseif type ~= "none" then
    return no_lock_error()
end
local waiters = redis.call("ZCOUNT", KEYS[3], now, "+inf")
for i = 2, 4 do
    waiters = waiters + redis.call("PUBSUB", ARGV[1], ARGV[i])[2]
end
local last_token = redis.call("GET", KEYS[2])
last_token = last_token and string.sub(last_token, 1, longest_text)
return {permits, last_token, waiters, holders, free, lent_out}
