-- Redisson's fields are UUID:THREAD, in a read-write lock with `mode` beside them and :write behind
-- the writer.
local function is_owner(field)
    return string.find(field, "^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d+") ~= nil
end

local function holder_of(lock)
    local field = redis.call("HRANDFIELD", lock)
    local fields = field == "mode" and redis.call("HKEYS", lock) or {field}
    for _, owner in ipairs(fields) do
        if is_owner(owner) then
            return owner
        end
    end
    return nil
end

local function no_lock()
    return redis.error_reply("WRONGTYPE the key is no lock of Redisson")
end

-- How many fields it has; or the refusal where it is none: a number is a semaphore, or its like.
local function fields_of(lock)
    local count = redis.pcall("HLEN", lock)
    if type(count) == "number" then
        return count
    end
    local said = redis.pcall("GET", lock)
    if type(said) == "string" and tonumber(said) then
        return nil, redis.error_reply("OTHERKIND semaphore")
    end
    return nil, count
end

-- A hash of another program, or of an object that excludes nobody here.
local function of_another_kind(lock, wanted)
    if not holder_of(lock) then
        return no_lock()
    end
    local kind = redis.call("HEXISTS", lock, "mode") == 1 and "readwrite" or "lock"
    return kind ~= wanted and redis.error_reply("OTHERKIND " .. kind) or nil
end
