-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- read_release: the same as release, for readers. Where a downgrade has not arrived, the writer's
-- key is deleted.
-- KEYS member quarantine, then lock fence queue holders details for each
-- ARGV run set keep_ms channel_prefix, then value token name for each
-- -> {1 released | 0 gone | 2 a writer's | 3 gone, and granted to another attempt since, …}
--@include _member.lua
--@include _line.lua
--@include _readers_mark.lua
--@include _readers.lua
-- A node that has forgotten its membership must not begin a new one with this token.
local is_member = not membership_objection(ARGV[1], ARGV[2])

-- A node that evicts keys may have lost the details alone.
local function remove_without_details(k, state, owner)
    return state == "readers" and not redis.call("HGET", k.details, owner) and
        redis.call("ZREM", k.holders, owner) == 1
end

local function release_reader(k, value, token, name)
    local state, stored = state_of(k, now_ms())
    local owner = owner_of(value)
    local is_reader = counter_of_reader(k, state, value) or remove_without_details(k, state, owner)
    local is_writer = counter_in(stored, value)
    if not is_reader and not is_writer then
        return state == "writer" and 2 or is_above(k.fence, token) and 3 or 0
    end
    -- Comes first: a server without memory accepts the other writes after this one.
    local is_free = is_writer and redis.call("DEL", k.lock) or remove_readers(k, {owner})
    if is_member then
        raise(k.fence, token, ARGV[3])
    end
    if is_free then
        wake_next(k.queue, ARGV[4], name)
    end
    return 1
end

local answers = {}
for i = 1, (#KEYS - 2) / 5 do
    answers[i] = release_reader(lock_keys(5 * i - 2), ARGV[3 * i + 2], tonumber(ARGV[3 * i + 3]),
        ARGV[3 * i + 4])
end
return answers
