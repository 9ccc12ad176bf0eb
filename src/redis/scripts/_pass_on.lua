-- Gives the lock to the first waiter whose lease and connection are alive, or frees it. The waiter
-- has a short claim window: if it is frozen, the lock moves on when that ends.
local function pass_on(lock, fence, queue, waiters, floor, channel)
    local now = string.format("%.0f", now_ms())
    while true do
        local first = redis.call("ZPOPMIN", queue)[1]
        if not first then
            break
        end
        local record = redis.call("HGET", waiters, first) or ""
        redis.call("HDEL", waiters, first)
        local lease, window, prefix = string.match(record, "^(%d+) (%d+) (.*)$")
        if lease and tonumber(lease) > tonumber(now) then
            -- Refused for want of memory: then nobody can be given it, but it must not stay held.
            local set = redis.pcall("SET", lock, prefix .. ";" .. now, "PX", window)
            if set.err then
                break
            end
            local token = next_token(fence, floor)
            local client, owner = string.match(first, "^([^:]*):(.*)$")
            local message = "grant " .. owner .. " " .. token .. " " .. now
            if redis.call("PUBLISH", channel .. client, message) > 0 then
                return
            end
        end
    end
    redis.call("DEL", lock)
end
