// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_calls.hpp"

#include "redisson_scripts.hpp"

#include "../../scripting/reply_reader.hpp"

namespace pawl::redis::redisson {

script_call latch_set_call::command(const server_words& words) const {
    return {scripts::latch_set, {latch_key}, {count, channel, words.publish_command}};
}

bool latch_set_call::read(const reply& from) const {
    return reply_reader(scripts::latch_set, from, latch_key).flag();
}

script_call latch_down_call::command(const server_words& words) const {
    return {scripts::latch_down, {latch_key}, {steps, channel, words.publish_command}};
}

std::uint64_t latch_down_call::read(const reply& from) const {
    return static_cast<std::uint64_t>(
        reply_reader(scripts::latch_down, from, latch_key).integer(0));
}

script_call latch_reset_call::command(const server_words& words) const {
    return {scripts::latch_reset, {latch_key}, {channel, words.publish_command}};
}

bool latch_reset_call::read(const reply& from) const {
    return reply_reader(scripts::latch_reset, from, latch_key).flag();
}

}  // namespace pawl::redis::redisson
