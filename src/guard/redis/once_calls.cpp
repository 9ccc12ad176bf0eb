// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_calls.hpp"

#include <guard/once_machine.hpp>
#include <guard/sha256.hpp>
#include "refusals.hpp"

#include <guard_redis_scripts.hpp>
#include <pawl/error.hpp>

#include <charconv>

namespace pawl::guard::redis {
namespace {

std::string to_ms(duration time) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

std::string to_us(duration time) {
    return std::to_string(std::chrono::ceil<std::chrono::microseconds>(time).count());
}

std::string digit_of(record_state state) { return std::to_string(static_cast<int>(state)); }

}  // namespace

std::int64_t item_number(const redis_reply& item, std::string_view key) {
    std::int64_t value = item.integer;
    if (item.type == redis_reply::kind::integer) return value;
    const char* end = item.text.data() + item.text.size();
    const auto parsed = std::from_chars(item.text.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) throw_unexpected(key, "a script of `once`");
    return value;
}

once_keys::once_keys(std::string_view scope, std::string_view operation) : member(operation) {
    if (scope.find_first_of("{}") != std::string_view::npos)
        throw error(errc::bad_option,
                    "The scope " + std::string(scope) +
                        " has a brace; in Redis it is a hash tag, without braces.");
    pending = "pawl-once:" + (scope.empty() ? ":{all}" : "{" + std::string(scope) + "}");
    record = pending + ":" + member;
}

once_calls::once_calls(const once_key& operation, const once_options& options)
    : keys_(operation.scope, operation.key),
      options_(options),
      fingerprint_(sha256(operation.request)) {
    check_once(operation, options, false);
    if (options.lease == duration{})
        throw error(errc::bad_option,
                    "The lease of `once` is 0; in Redis it must be between 100 ms and 24 h.");
}

script_call once_calls::look(const std::string& claim_id) const {
    return {scripts::once_look, {keys_.record}, {fingerprint_, claim_id}};
}

script_call once_calls::claim(const std::string& claim_id) const {
    return {scripts::once_claim,
            {keys_.record, keys_.pending},
            {claim_id, fingerprint_, to_us(options_.lease), std::to_string(options_.attempts),
             keys_.member}};
}

script_call once_calls::exhaust(std::int64_t token) const {
    return {scripts::once_exhaust,
            {keys_.record, keys_.pending},
            {std::to_string(token), std::to_string(options_.attempts), to_ms(options_.keep),
             keys_.member}};
}

script_call once_calls::effect(const script& code, std::int64_t token,
                               const effect_call& called) const {
    script_call call{code,
                     {keys_.record, keys_.pending},
                     {std::to_string(token), to_ms(options_.keep), keys_.member,
                      std::to_string(options_.largest_result)}};
    call.keys.insert(call.keys.end(), called.keys.begin(), called.keys.end());
    call.arguments.insert(call.arguments.end(), called.arguments.begin(), called.arguments.end());
    return call;
}

std::optional<record_view> once_calls::read_record(const redis_reply& reply) const {
    if (reply.type == redis_reply::kind::nil) return std::nullopt;
    if (reply.items.size() != 7) throw_unexpected(subject(), "the script once_look");
    const auto number = [&](std::size_t index) {
        return item_number(reply.items[index], subject());
    };
    record_view record;
    record.state = static_cast<record_state>(number(0));
    record.token = number(1);
    record.attempts = static_cast<std::uint32_t>(number(2));
    if (reply.items[3].type == redis_reply::kind::bytes) record.result = reply.items[3].text;
    record.is_same_request = number(4) == 1;
    record.is_own_claim = number(5) == 1;
    record.lease_left = std::chrono::microseconds(number(6));
    return record;
}

std::optional<claim_grant> once_calls::read_grant(const redis_reply& reply) const {
    if (reply.type == redis_reply::kind::nil) return std::nullopt;
    if (reply.items.size() != 2) throw_unexpected(subject(), "the script once_claim");
    return claim_grant{
        .token = item_number(reply.items[0], subject()),
        .attempts = static_cast<std::uint32_t>(item_number(reply.items[1], subject()))};
}

script_call finish_call(const once_keys& keys, std::int64_t token, record_state state,
                        const std::optional<std::string>& result, duration keep) {
    script_call call{scripts::once_finish,
                     {keys.record, keys.pending},
                     {std::to_string(token), digit_of(state), to_ms(keep), keys.member}};
    if (result) call.arguments.push_back(*result);
    return call;
}

script_call give_up_call(const once_keys& keys, std::int64_t token, duration pause) {
    return {scripts::once_give_up, {keys.record}, {std::to_string(token), to_us(pause)}};
}

void check_layers(const once_options& options) {
    if (options.with != layers::all && options.with != layers::record)
        throw error(errc::bad_option,
                    "The option `with` leaves the record out, which `once` in Redis always needs; "
                    "it must be layers::all or layers::record.");
}

bool is_changed(const redis_reply& reply, std::string_view key) {
    if (reply.type != redis_reply::kind::integer) throw_unexpected(key, "a script of `once`");
    return reply.integer == 1;
}

}  // namespace pawl::guard::redis
