-- join: as acquire, for who wants the lock beside others, or never before who came earlier.
-- KEYS lock fence queue waiters holders details
-- ARGV value ttl_ms floor('' = no token) waiter('' = do not wait) prefix window_ms lease_ms
--      channel_prefix known_floor want of(0 = as it is kept) run
-- -> {1, token} | {0, ms left} | {0, ms until something ends, server ms, rank}
--    | {2, n} fewer permits than wanted | {3, n} another n is kept | {4} no n is kept
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _holders.lua
--@include _serve.lua
--@include _stand_in_line.lua
--@include _ends_in.lua
local want, now = ARGV[10], now_ms()
local state = settle(k, now)
local permits = tonumber(string.match(want, "^p(%d+)$"))
if permits then
    local n = permits_in_all(k, ARGV[11])
    if n == 0 then
        return {4}
    elseif ARGV[11] ~= "0" and tonumber(ARGV[11]) ~= n then
        return {3, n}
    elseif permits > n then
        return {2, n}
    end
end
state = serve(k, state, ARGV[9], ARGV[8])
if redis.call("ZCARD", k.queue) == 0 and fits(k, state, want) then
    if want ~= "x" then
        local owner = owner_of(ARGV[1])
        local token = admit(k, state, want, owner, ARGV[1], ARGV[2], ARGV[3], now)
        return token and {1, token} or redis.error_reply("OOM no memory for another holder")
    end
    redis.call("SET", k.lock, ARGV[1], "PX", ARGV[2])
    return {1, ARGV[3] ~= "" and next_token(k.fence, ARGV[3]) or "0"}
end
if ARGV[4] == "" then
    return {0, redis.call("PTTL", k.lock)}
end
local line = stand_in_line(k, ARGV[4], ARGV[5], ARGV[6], ARGV[7], want)
line[2] = ends_in(k, state, ARGV[4], now)
return line
