-- read_release: a reader leaves. The hash then lives as long as the longest of the others, whose
-- leases have keys of their own; where none is left it goes, and who waits is told.
-- KEYS lock mine [latch]   ARGV owner verb channel latch_ms wait_ms tagged
-- -> 1 released | 0 gone | 2 somebody else's
if KEYS[3] and redis.call("GET", KEYS[3]) then
    return 1
end
redis.call("DEL", KEYS[2])
if redis.call("HDEL", KEYS[1], ARGV[1]) == 0 then
    return redis.call("EXISTS", KEYS[1]) * 2
end
local left = 0
local fields = redis.call("HGETALL", KEYS[1])
for i = 1, #fields, 2 do
    local its = 0
    for entry = 1, tonumber(fields[i + 1]) or 0 do
        local key = ARGV[6] .. ":" .. fields[i] .. ":rwlock_timeout:" .. entry
        its = math.max(its, redis.call("PTTL", key))
    end
    left = math.max(left, its)
    -- Of a reader of Pawl's that is gone without a word.
    if its == 0 and string.find(fields[i], ":%-%d+$") then
        redis.call("HDEL", KEYS[1], fields[i])
    end
end
if left > 0 then
    redis.call("PEXPIRE", KEYS[1], left)
elseif redis.call("HGET", KEYS[1], "mode") ~= "write" then
    redis.call("DEL", KEYS[1])
    redis.call(ARGV[2], ARGV[3], "0")
end
if KEYS[3] then
    redis.call("SET", KEYS[3], "1", "PX", ARGV[4])
end
return 1
