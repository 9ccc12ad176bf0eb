-- How many permits are free: a number; nil where nobody has said; or the refusal where the key is
-- no semaphore.
local function free_in(key)
    local said = redis.pcall("GET", key)
    local other = type(said) == "table" and string.find(said.err, "WRONGTYPE", 1, true)
    if type(said) == "table" and not other then
        return nil, said
    end
    if other or (said and not tonumber(said)) then
        return nil, redis.error_reply("OTHERKIND other")
    end
    return said and tonumber(said) or nil
end
