-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Decimal integers as strings, of any size and sign: Lua's own numbers round above 2^53.
local function is_integer(text)
    return text == "0" or string.find(text, "^%-?[1-9]%d*$") ~= nil
end

local function is_less(a, b)
    local a_is_negative, b_is_negative = string.sub(a, 1, 1) == "-", string.sub(b, 1, 1) == "-"
    if a_is_negative ~= b_is_negative then
        return a_is_negative
    end
    if a_is_negative then
        a, b = b, a
    end
    return #a < #b or (#a == #b and a < b)
end
