-- renew_beside: extends what is still held beside others; never makes a hold. The value is that of
-- one grant: an owner whose grant ran out may have been given the lock again, with another token.
-- KEYS lock holders details, for each   ARGV value ttl_ms, for each
-- -> {1 | 0 | -1 not known, …}
--@include _clock.lua
--@include _holders.lua
local answers = {}
local now = now_ms()
for i = 1, #KEYS / 3 do
    local k = {lock = KEYS[3 * i - 2], holders = KEYS[3 * i - 1], details = KEYS[3 * i]}
    local value = ARGV[2 * i - 1]
    local owner = owner_of(value)
    local mark = redis.pcall("GET", k.lock)
    local detail, ends
    if type(mark) == "string" and marks[mark] then
        detail, ends = held_beside(k, owner)
    end
    local failed = type(mark) == "table" and not string.find(mark.err, "WRONGTYPE", 1, true)
    answers[i] = failed and -1 or 0
    local same = detail and string.match(detail, "^%d+ %d+ (.*)$") == value
    if same and tonumber(ends) > now then
        extend(k, owner, now, ARGV[2 * i])
        keep_until_the_last(k)
        answers[i] = 1
    end
end
return answers
