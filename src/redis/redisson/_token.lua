-- The counter of FencedLock, which stands still for who asks for no token. An error where it holds
-- something else: before anything else is written.
local function next_token(counter)
    local token = counter and redis.pcall("INCR", counter) or 0
    if type(token) == "table" then
        return nil, redis.error_reply("BADCOUNTER")
    end
    return token, nil
end
