// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "calls.hpp"

#include "redisson_scripts.hpp"

#include "../scripting/reply_reader.hpp"
#include "../transport/numbers.hpp"

#include <array>
#include <limits>

namespace pawl::redis::redisson {
namespace {

constexpr auto any_number = std::numeric_limits<std::int64_t>::min();

const script& acquire_script(object_kind kind) noexcept {
    switch (kind) {
    case object_kind::fair: return scripts::fair_acquire;
    case object_kind::read: return scripts::read_acquire;
    case object_kind::write: return scripts::write_acquire;
    case object_kind::permits: return scripts::permits_acquire;
    case object_kind::semaphore: return scripts::semaphore_acquire;
    default: return scripts::acquire;
    }
}

const script& release_script(object_kind kind) noexcept {
    switch (kind) {
    case object_kind::fair: return scripts::fair_release;
    case object_kind::read: return scripts::read_release;
    case object_kind::write: return scripts::write_release;
    case object_kind::permits: return scripts::permits_release;
    case object_kind::semaphore: return scripts::semaphore_release;
    default: return scripts::release;
    }
}

// The object's keys for the acquire and release scripts. The optional key is the last one.
std::vector<std::string_view> keys_of(const lock_object& object, std::string_view optional_key) {
    const auto& names = object.keys;
    std::vector<std::string_view> keys{names.lock};
    switch (object.kind) {
    case object_kind::fair:
        keys.insert(keys.end(), {names.queue, names.timeouts, names.presence});
        break;
    case object_kind::permits: keys.emplace_back(names.lent_permits); break;
    case object_kind::read:
    case object_kind::semaphore: keys.emplace_back(object.own_key); break;
    case object_kind::write: break;
    default: keys.emplace_back(names.queue);
    }
    if (!optional_key.empty()) keys.push_back(optional_key);
    return keys;
}

lock_mode read_mode(const reply_reader& from) {
    const auto& text = from.text();
    if (text == "exclusive") return lock_mode::exclusive;
    if (text == "shared") return lock_mode::shared;
    if (text != "permits") from.fail();
    return lock_mode::permits;
}

inspect_reply::holder_entry read_holder(const reply_reader& from) {
    from.expect_size(5);
    return {from.at(0).text(), from.at(1).foreign_count(), from.at(2).integer(any_number),
            read_mode(from.at(3)), from.at(4).permits()};
}

}  // namespace

script_call acquire_call::command(const server_words& words) const {
    const auto& o = object;
    const auto keys = keys_of(o, o.fenced ? std::string_view(o.keys.counter) : "");
    std::vector<std::string_view> arguments{o.owner, o.ttl_ms};
    const bool counts = o.kind == object_kind::permits || o.kind == object_kind::semaphore;
    if (counts || o.kind == object_kind::fair)
        arguments.insert(arguments.end(),
                         {words.publish_command, o.release_channel(), o.permits, o.total_permits});
    if (o.kind == object_kind::fair)
        arguments.insert(arguments.end(), {queue_lease_ms, presence_lease_ms});
    return {acquire_script(o.kind), keys, arguments};
}

acquire_reply acquire_call::read(const reply& from) const {
    const reply_reader reader(acquire_script(object.kind), from, object.keys.lock);
    reader.expect_size(2);
    if (reader.at(0).flag()) return {reader.at(1).token()};
    return {std::nullopt, reader.at(1).integer(any_number)};
}

script_call release_call::command(const server_words& words) const {
    const auto& o = object;
    std::vector<std::string_view> arguments{o.owner, words.publish_command, o.release_channel(),
                                            unlock_latch_ms};
    const bool is_permits = o.kind == object_kind::permits;
    const bool has_entries = is_permits || o.kind == object_kind::read;
    if (has_entries || o.kind == object_kind::fair) arguments.emplace_back(queue_lease_ms);
    if (has_entries) arguments.emplace_back(o.keys.tagged);
    if (is_permits) arguments.emplace_back(o.permits);
    return {release_script(o.kind), keys_of(o, unlock_latch), arguments};
}

release_result release_call::read(const reply& from) const {
    switch (reply_reader(release_script(object.kind), from, object.keys.lock).integer(0, 2)) {
    case 1: return release_result::released;
    case 0: return release_result::expired;
    default: return release_result::taken_over;
    }
}

renew_call::renew_call(std::size_t count) : renewal_call(scripts::renew, count) {}

void renew_call::add(const lock_object& object, std::string ttl_ms) {
    add_hold({object.keys.lock, object.renewal_key()},
             {to_string(object.kind), object.owner, store_text(std::move(ttl_ms)), object.permits});
}

script_call downgrade_call::command(const server_words& words) const {
    return {scripts::downgrade,
            {reader.keys.lock, reader.own_key},
            {writer_owner, reader.owner, reader.ttl_ms, words.publish_command, reader.channel}};
}

bool downgrade_call::read(const reply& from) const {
    return reply_reader(scripts::downgrade, from, reader.keys.lock).flag();
}

script_call inspect_call::command(const server_words& words) const {
    return {scripts::inspect,
            {names.lock, names.counter, names.timeouts, names.lent_permits},
            {words.count_command, names.channel, names.rw_channel, names.sc_channel, names.tagged}};
}

inspect_reply inspect_call::read(const reply& from) const {
    const reply_reader reader(scripts::inspect, from, names.lock);
    reader.expect_size(6);
    inspect_reply result;
    result.total_permits = reader.at(0).integer(any_number);
    if (!reader.at(1).is_nil()) result.token = fencing_token(parse_number(reader.at(1).text()));
    result.waiters = reader.at(2).count();
    const auto holders = reader.at(3);
    for (std::size_t i = 0; i < holders.size(); ++i)
        result.holders.push_back(read_holder(holders.at(i)));
    if (!reader.at(4).is_nil()) result.free_permits = reader.at(4).integer(any_number);
    result.lent_permits = reader.at(5).integer(0);
    return result;
}

script_call resize_call::command(const server_words& words) const {
    return {scripts::resize,
            {names.lock, names.lent_permits},
            {permits, words.publish_command, names.sc_channel}};
}

void resize_call::read(const reply& from) const {
    (void)reply_reader(scripts::resize, from, names.lock).integer(1, 1);
}

script_call force_release_call::command(const server_words& words) const {
    return {scripts::force_release,
            {names.lock, names.queue, names.timeouts, names.lent_permits, names.presence,
             names.counter},
            {words.publish_command, names.channel, names.rw_channel, names.sc_channel, expected}};
}

bool force_release_call::read(const reply& from) const {
    return reply_reader(scripts::force_release, from, names.lock).flag();
}

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
