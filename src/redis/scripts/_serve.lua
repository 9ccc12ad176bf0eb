-- The place of a waiter who cannot be served yet. One that ends later than any place can was taken
-- before the clock was set back: it ends soon, unless the waiter looks again.
local function bound_place(k, member, lease, rest, now)
    if tonumber(lease) > now + 10000 then
        redis.call("HSET", k.waiters, member, string.format("%.0f", now + 2000) .. rest)
    end
end

-- Serves the line as far as it fits, past waiters whose lease or connection is dead: one who wants
-- the lock alone, or the readers that stand together, or permits while there are enough. Who is
-- given it has a short claim window: if it is frozen, the lock moves on when that ends.
-- `state`: as `settle` says; "free" where the lock's key still has who gave it back.
-- -> the state afterwards
local function serve(k, state, floor, channel)
    local now = now_ms()
    while state ~= "exclusive" do
        local first
        if state == "free" then
            first = redis.call("ZPOPMIN", k.queue)[1]
        else
            first = redis.call("ZRANGE", k.queue, 0, 0)[1]
        end
        if not first then
            break
        end
        local record = redis.call("HGET", k.waiters, first) or ""
        local lease, window, want, prefix = string.match(record, "^(%d+) (%d+) (%l%d*) (.*)$")
        local client, owner = string.match(first, "^([^:]*):(.*)$")
        local alive = client and lease and tonumber(lease) > now
        local goes = alive and fits(k, state, want)
        if state ~= "free" then
            if alive and not goes then
                bound_place(k, first, lease, string.sub(record, #lease + 1), now)
                break
            end
            redis.call("ZREM", k.queue, first)
        end
        redis.call("HDEL", k.waiters, first)
        if goes then
            local stamp = string.format("%.0f", now)
            local value = prefix .. ";" .. stamp
            local token
            if want ~= "x" then
                token = admit(k, state, want, owner, value, window, floor, now)
            elseif not redis.pcall("SET", k.lock, value, "PX", window).err then
                token = next_token(k.fence, floor)
            end
            -- Refused for want of memory: nobody can be given it, but it must not stay held.
            if not token then
                break
            end
            local message = "grant " .. owner .. " " .. token .. " " .. stamp
            redis.call("PUBLISH", channel .. client, message)
            -- Not PUBLISH's count, which has those who listen to a pattern of channels in it.
            if redis.call("PUBSUB", "NUMSUB", channel .. client)[2] > 0 then
                if want == "x" then
                    return "exclusive"
                end
                state = want == "s" and "shared" or "permits"
            elseif want ~= "x" and expel(k, owner) then
                state = "free"
            end
        end
    end
    if state == "free" then
        redis.call("DEL", k.lock)
    end
    return state
end
