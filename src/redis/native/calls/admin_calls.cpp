// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "admin_calls.hpp"

#include "redis_scripts.hpp"

#include "../../scripting/reply_reader.hpp"
#include "../../transport/numbers.hpp"

#include <array>

namespace pawl::redis::native {
namespace {

// Fails unless the items come in pairs.
void expect_pairs(const reply_reader& from) {
    if (from.size() % 2 != 0) from.fail();
}

}  // namespace

script_call inspect_call::command(const server_words&) const {
    const auto& k = lock_keys;
    return {scripts::inspect, {k.lock(), k.fence(), k.queue(), k.holders(), k.details()}, {}};
}

inspect_reply inspect_call::read(const reply& from) const {
    const reply_reader reader(scripts::inspect, from, lock_keys.lock());
    reader.expect_size(7);
    inspect_reply result;
    if (!reader.at(0).is_nil()) result.value = reader.at(0).text();
    result.left_ms = reader.at(1).integer(std::numeric_limits<std::int64_t>::min());
    if (!reader.at(2).is_nil()) result.token = fencing_token(parse_number(reader.at(2).text()));
    result.waiters = reader.at(3).count();
    const auto leases = reader.at(4);
    expect_pairs(leases);
    for (std::size_t i = 0; i < leases.size(); i += 2)
        result.leases.push_back(
            {leases.at(i).text(), parse_number<std::int64_t>(leases.at(i + 1).text())});
    const auto details = reader.at(5);
    expect_pairs(details);
    for (std::size_t i = 0; i < details.size(); i += 2)
        result.details.push_back({details.at(i).text(), details.at(i + 1).text()});
    result.server_ms = reader.at(6).number(0);
    return result;
}

script_call force_release_call::command(const server_words& words) const {
    return {scripts::force_release, lock_keys.all(),
            std::array<std::string_view, 5>{words.token_floor, words.channel_prefix, expected,
                                            is_shared_with_others ? "1" : "0", words.run}};
}

bool force_release_call::read(const reply& from) const {
    return reply_reader(scripts::force_release, from, lock_keys.lock()).flag();
}

script_call resize_call::command(const server_words& words) const {
    return {scripts::resize, lock_keys.all(),
            std::array<std::string_view, 4>{total_permits, words.token_floor, words.channel_prefix,
                                            words.run}};
}

void resize_call::read(const reply& from) const {
    (void)reply_reader(scripts::resize, from, lock_keys.lock()).integer(1, 1);
}

}  // namespace pawl::redis::native
