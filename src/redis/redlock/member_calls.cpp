// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "member_calls.hpp"

#include "redlock_scripts.hpp"

#include "../scripting/reply_reader.hpp"
#include "../transport/numbers.hpp"

namespace pawl::redlock {
namespace {

using redis::reply;
using redis::reply_reader;
using redis::script_call;

std::int64_t counter_of(std::string_view text) { return redis::parse_number<std::int64_t>(text); }

member_report read_report(const reply_reader& from) {
    member_report result;
    result.is_member = from.at(0).flag();
    if (!result.is_member) return result;
    from.expect_size(9);
    result.set = from.at(1).text();
    result.member = member_of(from, 2);
    result.highest = counter_of(from.at(4).text());
    result.quarantine_ms = from.at(5).integer(-2);
    result.member.nonce = from.at(6).text();
    result.genesis = from.at(7).text();
    result.nodes = from.at(8).text();
    return result;
}

}  // namespace

script_call prepare_call::command(std::string_view run) const {
    return {scripts::prepare, {set.member_key, set.quarantine_key}, {run, nonce, set.set}};
}

member_report prepare_call::read(const reply& from) const {
    const reply_reader reader(scripts::prepare, from, reply_subject);
    auto result = read_report(reader);
    if (result.is_member) return result;
    reader.expect_size(3);
    result.member.nonce = reader.at(1).text();
    result.highest = counter_of(reader.at(2).text());
    return result;
}

script_call standing_call::command(std::string_view run) const {
    return {scripts::standing, {set.member_key, set.quarantine_key}, {run, set.set}};
}

member_report standing_call::read(const reply& from) const {
    return read_report({scripts::standing, from, reply_subject});
}

script_call forget_call::command(std::string_view run) const {
    return {scripts::forget, {set.member_key, set.quarantine_key}, {run, nonce, only}};
}

bool forget_call::read(const reply& from) const {
    return reply_reader(scripts::forget, from, reply_subject).flag();
}

script_call end_quarantine_call::command(std::string_view run) const {
    return {scripts::end_quarantine,
            {set.member_key, set.quarantine_key},
            {run, std::string_view(set.set), nonce}};
}

script_call mark_call::command(std::string_view run) const {
    return {scripts::mark,
            {set.member_key, set.quarantine_key},
            {run, set.set, index, incarnation, nonce}};
}

mark_call::answer mark_call::read(const reply& from) const {
    const reply_reader reader(scripts::mark, from, reply_subject);
    answer result{.standing = standing_of(reader)};
    if (result.standing.refusal != objection::none) return result;
    result.is_marked = reader.at(0).flag();
    if (!result.is_marked) return result;
    reader.expect_size(5);
    result.member = member_of(reader, 1);
    result.member.nonce = reader.at(3).text();
    result.highest = counter_of(reader.at(4).text());
    return result;
}

script_call install_call::command(std::string_view run) const {
    return {scripts::install,
            {set.member_key, set.quarantine_key},
            {run, nonce, set.set, incarnation, vector, highest, quarantine_ms, genesis, set.nodes}};
}

bool install_call::read(const reply& from) const {
    return reply_reader(scripts::install, from, reply_subject).flag();
}

}  // namespace pawl::redlock
