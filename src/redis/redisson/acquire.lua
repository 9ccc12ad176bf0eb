-- acquire: takes the lock, and the next token where its counter is named, if nobody has it.
-- KEYS lock queue [counter]   ARGV owner ttl_ms   -> {1, token} | {0, ms left}
--@include _lock.lua
--@include _token.lua
local fields, no_hash = fields_of(KEYS[1])
if no_hash then
    return no_hash
end
if fields == 0 then
    local token, trouble = next_token(KEYS[3])
    if trouble then
        return trouble
    end
    redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return {1, token}
end
-- A lock always has an end, and is freed by its own kind: nobody must wait for anything else.
return of_another_kind(KEYS[1], "lock") or {0, redis.call("PTTL", KEYS[1])}
