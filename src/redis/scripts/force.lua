-- force: takes the lock from whoever holds it, all of them, tells the victims, and serves the line
-- with a higher token.
-- KEYS lock fence queue waiters holders details   ARGV floor channel_prefix run
-- -> 1 | 0 nobody had it
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _holders.lua
--@include _serve.lua
local function tell(value)
    local owner, client = string.match(value, "^(%x+);(%x+);")
    if owner then
        redis.call("PUBLISH", ARGV[2] .. client, "lost " .. owner)
    end
end
local state = settle(k, now_ms())
if state == "free" then
    serve(k, state, ARGV[1], ARGV[2])
    return 0
elseif state == "exclusive" then
    tell(redis.call("GET", k.lock))
    redis.call("DEL", k.lock)
else
    for _, owner in ipairs(redis.call("ZRANGE", k.holders, 0, -1)) do
        local detail = redis.call("HGET", k.details, owner) or ""
        tell(string.match(detail, "^%d+ %d+ (.*)$") or "")
    end
    forget_holders(k)
end
next_token(k.fence, ARGV[1])
serve(k, "free", ARGV[1], ARGV[2])
return 1
