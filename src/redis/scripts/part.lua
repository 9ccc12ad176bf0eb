-- part: gives back what is held beside others.
-- KEYS lock fence queue waiters holders details   ARGV value floor channel_prefix run
-- -> {1} released | {0} gone | {2} somebody else's
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _holders.lua
--@include _serve.lua
local state = settle(k, now_ms())
local owner = owner_of(ARGV[1])
local found = 0
if state == "exclusive" then
    return {2}
elseif state ~= "free" and redis.call("ZSCORE", k.holders, owner) then
    found = 1
    if expel(k, owner) then
        state = "free"
    end
end
serve(k, state, ARGV[2], ARGV[3])
return {found}
