-- The counter one up. A counter that is new, or not above what this connection knows to be past,
-- starts again from the clock: 1/65536 s since 2024, above all that was ever issued.
local function next_token(fence, floor)
    local token = redis.call("INCR", fence)
    if token <= tonumber(floor) then
        local now = redis.call("TIME")
        local seed = (now[1] - 1704067200) * 65536 + math.floor(now[2] * 65536 / 1000000)
        token = math.max(seed, tonumber(floor) + 1)
        redis.call("SET", fence, string.format("%.0f", token), "PX", 86400000)
    elseif token % 64 == 0 then
        redis.call("PEXPIRE", fence, 86400000)
    end
    return string.format("%.0f", token)
end
