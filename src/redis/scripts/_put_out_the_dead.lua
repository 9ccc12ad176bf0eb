-- Removes from the head of the line who has been dead for as long again as a place lives; by then a
-- line that nobody looks after has ended, too. A living waiter must be the first even while the
-- lock is held: it has the server tell it of another library's release. -> true: there were any
local function put_out_the_dead(k, now, lease)
    local some = false
    for _ = 1, 64 do
        local first = redis.call("ZRANGE", k.queue, 0, 0)[1]
        local record = first and redis.call("HGET", k.waiters, first) or ""
        local ends = string.match(record, "^%d+")
        if not first then
            break
        end
        if ends and ends + lease > now then
            bound_place(k, first, ends, string.sub(record, #ends + 1), now)
            break
        end
        redis.call("ZREM", k.queue, first)
        redis.call("HDEL", k.waiters, first)
        some = true
    end
    return some
end
