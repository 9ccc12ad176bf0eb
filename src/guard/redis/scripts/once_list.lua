-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- once_list: a part of the unfinished operations of a scope, in the order of their keys.
-- KEYS pending
-- ARGV after(the last key before, or '') older_than_us limit prefix(of the records)
-- -> {the last key that was read, or false at the end, then for each operation whose lease has been
--    over for so long: key, token, attempts, µs since then}
--@include _once.lua
local from = ARGV[1] == "" and "-" or "(" .. ARGV[1]
local members = redis.call("ZRANGEBYLEX", KEYS[1], from, "+", "LIMIT", 0, ARGV[3])
local now = clock()
local listed = {#members == tonumber(ARGV[3]) and members[#members]}
for _, member in ipairs(members) do
    local record = read_record(ARGV[4] .. member)
    if record and record.state == "1" and now - record.lease_until >= tonumber(ARGV[2]) then
        local at = #listed
        listed[at + 1], listed[at + 2] = member, decimal(record.token)
        listed[at + 3], listed[at + 4] = decimal(record.attempts),
            decimal(now - record.lease_until)
    end
end
return listed
