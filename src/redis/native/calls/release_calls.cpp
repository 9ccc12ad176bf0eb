// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "release_calls.hpp"

#include "redis_scripts.hpp"

#include "../../scripting/reply_reader.hpp"

#include <array>

namespace pawl::redis::native {
namespace {

release_reply read_release(const reply_reader& from, bool names_successor) {
    if (names_successor && from.is_array()) {
        from.expect_size(2);
        (void)from.at(0).integer(1, 1);
        return {release_result::released, from.at(1).token()};
    }
    switch (from.integer(0, 2)) {
    case 0: return {release_result::expired};
    case 2: return {release_result::taken_over};
    default: return {release_result::released};
    }
}

}  // namespace

script_call release_call::command(const server_words& words) const {
    if (successor.empty())
        return {scripts::release, lock_keys.all(),
                std::array<std::string_view, 4>{value, words.token_floor, words.channel_prefix,
                                                words.run}};
    return {scripts::release, lock_keys.all(),
            std::array<std::string_view, 8>{value, words.token_floor, words.channel_prefix,
                                            successor, successor_value, successor_ttl_ms,
                                            queue_first ? "1" : "0", words.run}};
}

release_reply release_call::read(const reply& from) const {
    return read_release({scripts::release, from, lock_keys.lock()}, !successor.empty());
}

script_call release_non_exclusive_call::command(const server_words& words) const {
    return {
        scripts::release_non_exclusive, lock_keys.all(),
        std::array<std::string_view, 4>{value, words.token_floor, words.channel_prefix, words.run}};
}

release_reply release_non_exclusive_call::read(const reply& from) const {
    return read_release({scripts::release_non_exclusive, from, lock_keys.lock()}, false);
}

renew_call::renew_call(std::size_t count) : renewal_call(scripts::renew, count) {}

void renew_call::add(const keys& lock_keys, std::string_view value, std::string ttl_ms) {
    add_hold({lock_keys.lock()}, {value, store_text(std::move(ttl_ms))});
}

renew_non_exclusive_call::renew_non_exclusive_call(std::size_t count)
    : renewal_call(scripts::renew_non_exclusive, count) {}

void renew_non_exclusive_call::add(const keys& lock_keys, std::string_view value,
                                   std::string ttl_ms) {
    add_hold({lock_keys.lock(), lock_keys.holders(), lock_keys.details()},
             {value, store_text(std::move(ttl_ms))});
}

script_call downgrade_call::command(const server_words& words) const {
    return {scripts::downgrade, lock_keys.all(),
            std::array<std::string_view, 6>{value, ttl_ms, token, words.token_floor,
                                            words.channel_prefix, words.run}};
}

bool downgrade_call::read(const reply& from) const {
    return reply_reader(scripts::downgrade, from, lock_keys.lock()).flag();
}

}  // namespace pawl::redis::native
