-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Redisson's fields are UUID:THREAD. A read-write lock has the field `mode` as well, and :write at
-- the end of the writer's field.
local function is_owner(field)
    return string.find(field, "^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d+") ~= nil
end

local function any_owner_of(lock)
    local field = redis.call("HRANDFIELD", lock)
    local fields = field == "mode" and redis.call("HKEYS", lock) or {field}
    for _, owner in ipairs(fields) do
        if is_owner(owner) then
            return owner
        end
    end
    return nil
end

local function no_lock_error()
    return redis.error_reply("WRONGTYPE the key is no lock of Redisson")
end

-- The number of fields; or nil and an error if the key is not a hash. A string with a number is a
-- semaphore.
local function field_count(lock)
    local count = redis.pcall("HLEN", lock)
    if type(count) == "number" then
        return count
    end
    local value = redis.pcall("GET", lock)
    if type(value) == "string" and tonumber(value) then
        return nil, redis.error_reply("OTHERKIND semaphore")
    end
    return nil, count
end

-- The error for a hash of another program, or of an object of another kind than `wanted`; else nil.
local function kind_error(lock, wanted)
    if not any_owner_of(lock) then
        return no_lock_error()
    end
    local kind = redis.call("HEXISTS", lock, "mode") == 1 and "readwrite" or "lock"
    return kind ~= wanted and redis.error_reply("OTHERKIND " .. kind) or nil
end
