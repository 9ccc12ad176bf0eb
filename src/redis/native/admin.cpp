// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../common/values.hpp"
#include "../doctor/doctor.hpp"
#include "../transport/numbers.hpp"
#include "../transport/options.hpp"
#include "../transport/server_errors.hpp"
#include "calls/admin_calls.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace asio = boost::asio;

namespace pawl::redis::native {
namespace {

std::uint64_t consume_number(std::string_view& text) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
    return value;
}

using detail_map = std::map<std::string_view, std::string_view>;

// The holders with a running lease, in the order in which their holds began.
std::vector<holder> parse_holders(const inspect_reply& reply, const detail_map& details) {
    std::vector<holder> holders;
    const bool is_permits = reply.value == "pawl:permits";
    for (const auto& lease : reply.leases) {
        const auto detail = details.find(lease.owner);
        const auto left_ms = lease.ends_at_ms - reply.server_ms;
        if (detail == details.end() || left_ms <= 0) continue;
        // PERMITS TOKEN VALUE
        auto text = detail->second;
        const auto permits = static_cast<std::uint32_t>(consume_number(text));
        const fencing_token token(consume_number(text));
        auto result = parse_value(text);
        result.mode = is_permits ? lock_mode::permits : lock_mode::shared;
        result.permits = is_permits ? permits : 0;
        result.token = token;
        result.remaining = milliseconds_of(left_ms);
        holders.push_back(std::move(result));
    }
    std::ranges::stable_sort(holders, {}, &holder::since);
    return holders;
}

}  // namespace

asio::awaitable<examination> locks::examine() {
    auto report = co_await examine_servers(*servers_, time(), options_);
    co_await find_redlock_nodes(report, *servers_, time(), options_);
    co_return report;
}

asio::awaitable<lock_info> locks::inspect(std::string_view name) {
    lock_info info;
    info.name = name;
    const auto lock_keys = scripts_.scheme().keys_of(name);
    const inspect_call call{lock_keys};
    const auto server_reply = co_await scripts_.run(lock_keys, call, reply_deadline());
    if (server_reply.type == reply::kind::error)
        co_await scripts_.throw_if_lock_error(server_reply, lock_keys);
    const auto shown = call.read(server_reply);
    info.waiters = shown.waiters;
    detail_map details;
    for (const auto& each : shown.details)
        details[each.field] = each.text;
    if (const auto total = details.find("n"); total != details.end())
        info.permits = parse_number<std::uint32_t>(total->second);
    if (!shown.value) co_return info;
    // A mark without holders belongs to another key scheme, or its holders were evicted. The lock
    // is then not free.
    const bool is_marked = shown.value == "pawl:shared" || shown.value == "pawl:permits";
    if (is_marked && !shown.leases.empty()) {
        for (auto& result : parse_holders(shown, details))
            if (info.held_by)
                info.others.push_back(std::move(result));
            else
                info.held_by = std::move(result);
        co_return info;
    }
    auto result = is_marked ? holder{} : parse_value(*shown.value);
    // A lock of another library may never expire.
    result.remaining = shown.left_ms < 0 ? forever : milliseconds_of(shown.left_ms);
    // If other libraries share the key, the counter may belong to an earlier hold.
    if (!is_marked && (is_written_by_pawl(result) || !scripts_.scheme().is_shared_with_others()))
        result.token = shown.token;
    info.held_by = std::move(result);
    co_return info;
}

asio::awaitable<std::vector<lock_info>> locks::list(std::string_view prefix) {
    std::set<std::string> names;
    key_listing listed;
    co_await listing_.scan(listed, scripts_.scheme().glob(prefix), "string");
    for (const auto& key : listed.keys) {
        if (auto name = scripts_.scheme().name_of(key)) names.insert(std::move(*name));
    }
    co_return co_await listing_.inspect_all(listed, std::move(names), lock_listing::is_held);
}

asio::awaitable<bool> locks::force_release(std::string_view name, fencing_token expected) {
    const auto lock_keys = scripts_.scheme().keys_of(name);
    const force_release_call call{lock_keys, expected ? to_string(expected) : std::string(),
                                  scripts_.scheme().is_shared_with_others()};
    const auto server_reply = co_await scripts_.run(lock_keys, call, reply_deadline());
    if (server_reply.type == reply::kind::error)
        co_await scripts_.throw_if_lock_error(server_reply, lock_keys);
    co_return call.read(server_reply);
}

asio::awaitable<std::optional<grant>> locks::downgrade(const hold& held) {
    const auto lock_keys = scripts_.scheme().keys_of(held.claim.name);
    const auto give_up_at = held.grant.deadline;
    const downgrade_call call{lock_keys, held.grant.stored_value, milliseconds_text(held.claim.ttl),
                              held.claim.fenced ? to_string(held.grant.token) : "0"};
    // Copied before the request, so that a downgrade that was carried out cannot fail here.
    std::optional<grant> result = held.grant;
    const auto sent_at = now();
    const auto server_reply = co_await scripts_.run(lock_keys, call, give_up_at);
    if (server_reply.type == reply::kind::error)
        co_await scripts_.throw_if_lock_error(server_reply, lock_keys);
    if (!call.read(server_reply)) co_return std::nullopt;
    result->deadline = sent_at + held.claim.ttl - drift(held.claim.ttl);
    co_return result;
}

asio::awaitable<void> locks::resize(std::string_view name, std::uint32_t permits) {
    const auto lock_keys = scripts_.scheme().keys_of(name);
    const resize_call call{lock_keys, std::to_string(permits)};
    const auto server_reply = co_await scripts_.run(lock_keys, call, reply_deadline());
    if (server_reply.type == reply::kind::error)
        co_await scripts_.throw_if_lock_error(server_reply, lock_keys);
    call.read(server_reply);
}

}  // namespace pawl::redis::native
