-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- resize: sets the total of permits. A total below the lent ones makes the free number negative.
-- KEYS free lent_permits   ARGV permits (in total) publish_command channel   -> 1
--@include _free_permits.lua
local _, type_error = free_permits(KEYS[1])
if type_error then
    return type_error
end
local free = ARGV[1] - redis.call("ZCARD", KEYS[2])
redis.call("SET", KEYS[1], free, "KEEPTTL")
if free > 0 then
    redis.call(ARGV[2], ARGV[3], free)
end
return 1
