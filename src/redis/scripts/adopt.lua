-- adopt: makes the caller's what is held under this value: extends it, with the next token. Never
-- makes one.
-- KEYS lock fence   ARGV value ttl_ms floor('' = no token)   -> {1, token} | {0}
--@include _token.lua
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
    return {0}
end
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return {1, ARGV[3] ~= "" and next_token(KEYS[2], ARGV[3]) or "0"}
