// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "reply_parts.hpp"

#include "../transport/numbers.hpp"

namespace pawl::redlock {

using redis::reply_reader;

standing_reply standing_of(const reply_reader& from) {
    if (!from.is_array() || from.size() == 0 || !from.at(0).is_text()) return {};
    const auto& why = from.at(0).text();
    if (why == "amnesia") return {objection::amnesia};
    if (why == "set") return {objection::other_set};
    if (why != "quarantine") from.fail();
    from.expect_size(2);
    return {objection::quarantine, from.at(1).integer(-1)};
}

membership_state member_of(const reply_reader& from, std::size_t first) {
    membership_state result;
    result.incarnation = redis::parse_number<std::int64_t>(from.at(first).text());
    result.vector = parse_marks(from.at(first + 1).text());
    return result;
}

}  // namespace pawl::redlock
