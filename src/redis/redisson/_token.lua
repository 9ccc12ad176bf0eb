-- The counter of FencedLock, which stands still for who asks for no token. An error where it holds
-- something else, or where the server refuses to write: before anything else is written.
local function next_token(counter)
    local token = counter and redis.pcall("INCR", counter) or 0
    if type(token) ~= "table" then
        return token, nil
    end
    local other = string.find(token.err, "WRONGTYPE", 1, true) or
        string.find(token.err, "not an integer", 1, true)
    return nil, other and redis.error_reply("BADCOUNTER") or token
end
