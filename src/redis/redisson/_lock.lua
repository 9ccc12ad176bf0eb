-- Redisson's fields are UUID:THREAD, with `mode` beside them in a read-write lock.
local function holder_of(lock)
    local field = redis.call("HRANDFIELD", lock)
    local fields = field == "mode" and redis.call("HKEYS", lock) or {field}
    for _, owner in ipairs(fields) do
        if string.find(owner, "^%x+%-%x+%-%x+%-%x+%-%x+:%-?%d+") then
            return owner
        end
    end
    return nil
end

local function no_lock()
    return redis.error_reply("WRONGTYPE the hash is no lock of Redisson")
end
