// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_calls.hpp"

#include "redis_scripts.hpp"

#include "../../scripting/reply_reader.hpp"

#include <limits>

namespace pawl::redis::native {
namespace {

std::optional<late_reply> read_late_reply(const reply_reader& from) {
    if (!from.is_array() || from.size() != 2 || from.at(0).is_nil() || from.at(0).text() != "late")
        return std::nullopt;
    return late_reply{from.at(1).number(0)};
}

}  // namespace

script_call latch_set_call::command(const server_words& words) const {
    const auto& r = request;
    return {scripts::latch_set,
            {r.latch_key, r.request_key},
            {r.limit_ms, count, ttl_ms, words.publish_command, r.channel, r.since_ms}};
}

std::optional<late_reply> latch_set_call::read_late(const reply& from) const {
    return read_late_reply({scripts::latch_set, from, request.latch_key});
}

bool latch_set_call::read(const reply& from) const {
    return reply_reader(scripts::latch_set, from, request.latch_key).flag();
}

script_call latch_down_call::command(const server_words& words) const {
    const auto& r = request;
    return {scripts::latch_down,
            {r.latch_key, r.request_key},
            {r.limit_ms, steps, parties, ttl_ms, words.publish_command, r.channel, r.since_ms}};
}

std::optional<late_reply> latch_down_call::read_late(const reply& from) const {
    return read_late_reply({scripts::latch_down, from, request.latch_key});
}

latch_down_reply latch_down_call::read(const reply& from) const {
    const reply_reader reader(scripts::latch_down, from, request.latch_key);
    if (reader.is_nil()) return {};
    reader.expect_size(2);
    if (reader.at(0).text().empty()) return {true, reader.at(1).count()};
    return {true, std::nullopt, reader.at(0).count(), reader.at(1).count()};
}

script_call latch_inspect_call::command(const server_words&) const {
    return {scripts::latch_inspect, {latch_key}, {}};
}

std::optional<latch_inspect_reply> latch_inspect_call::read(const reply& from) const {
    const reply_reader reader(scripts::latch_inspect, from, latch_key);
    if (reader.is_nil()) return std::nullopt;
    reader.expect_size(5);
    return latch_inspect_reply{reader.at(0).count(), reader.at(1).count(), reader.at(2).count(),
                               reader.at(3).permits(),
                               reader.at(4).integer(std::numeric_limits<std::int64_t>::min())};
}

script_call latch_reset_call::command(const server_words& words) const {
    return {scripts::latch_reset, {latch_key}, {words.publish_command, channel}};
}

bool latch_reset_call::read(const reply& from) const {
    return reply_reader(scripts::latch_reset, from, latch_key).flag();
}

}  // namespace pawl::redis::native
