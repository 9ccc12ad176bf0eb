// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "calls.hpp"
#include "refusals.hpp"

#include "../doctor/doctor.hpp"
#include "../transport/numbers.hpp"
#include "../transport/options.hpp"
#include "../transport/server_errors.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace asio = boost::asio;

namespace pawl::redis::redisson {
namespace {

// The first part of the UUID, and the thread: enough to find the owner in a Java program's log.
std::string short_owner(const std::string& owner) {
    const auto colon = owner.find(':');
    return owner.substr(0, 8) + owner.substr(std::min(colon, owner.size()), 21);
}

// The beginning of a permit's id, in Java's notation.
std::string short_permit_id(const std::string& bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const auto byte_char : bytes.substr(0, 4)) {
        const auto byte = static_cast<unsigned char>(byte_char);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

holder make_holder(const inspect_reply::holder_entry& entry, fencing_token last_token) {
    holder result;
    const bool is_permits = entry.mode == lock_mode::permits;
    const std::string owner(entry.owner);
    result.owner = is_permits ? short_permit_id(owner) : short_owner(owner);
    result.count = entry.count;
    result.remaining = entry.left_ms < 0 ? forever : milliseconds_of(entry.left_ms);
    result.mode = entry.mode;
    result.permits = entry.permits;
    // No key has the tokens of the holders of permits.
    if (!is_permits) result.token = last_token;
    return result;
}

// The native layout's locks and counters of tokens are strings, too. Recognizes only its default
// namespace.
bool is_of_native_layout(std::string_view key) {
    return key.starts_with("pawl:{") || key.starts_with("pawl:x:") || key.starts_with("pawl:y:");
}

std::uint32_t at_least_zero(std::int64_t count) {
    return static_cast<std::uint32_t>(std::max<std::int64_t>(count, 0));
}

// A Semaphore stores only the number of free permits. So it looks like an expirable one without
// lent permits, and its total is unknown.
void show_permits(const inspect_reply& reply, redisson_object object, lock_info& info) {
    if (!reply.free_permits) return;
    info.free_permits = at_least_zero(*reply.free_permits);
    if (reply.lent_permits > 0 || object != redisson_object::semaphore)
        info.permits = at_least_zero(reply.total_permits);
}

}  // namespace

asio::awaitable<lock_info> locks::inspect(std::string_view name) {
    lock_info info;
    info.name = name;
    const auto names = naming_.names_of(name);
    const inspect_call call{names};
    const auto server_reply = co_await run(names, call, reply_deadline());
    throw_if_refused(server_reply, names);
    const auto shown = call.read(server_reply);
    show_permits(shown, options_.object, info);
    info.waiters = shown.waiters;
    for (const auto& entry : shown.holders) {
        auto result = make_holder(entry, shown.token);
        if (info.held_by)
            info.others.push_back(std::move(result));
        else
            info.held_by = std::move(result);
    }
    co_return info;
}

// Locks are hashes. The lent permits of an expirable semaphore are in a separate sorted set. A
// Semaphore is a number, like many keys of other programs. So numbers are listed only if the URL
// has object=semaphore.
asio::awaitable<std::vector<lock_info>> locks::list(std::string_view prefix) {
    std::set<std::string> names;
    const auto glob = naming_.glob(prefix);
    key_listing hashes;
    co_await listing_.scan(hashes, glob, "hash");
    for (const auto& key : hashes.keys) {
        if (auto name = naming_.name_of(key)) names.insert(std::move(*name));
    }
    key_listing lent{.keys = {}, .failures = std::move(hashes.failures)};
    const std::array<std::string, 2> patterns{"{" + glob + "}:timeout", glob + ":timeout"};
    for (const auto& pattern : patterns)
        co_await listing_.scan(lent, pattern, "zset");
    for (const auto& key : lent.keys) {
        for (auto& name : naming_.names_of_lent(key))
            names.insert(std::move(name));
    }
    const bool are_semaphores = options_.object == redisson_object::semaphore;
    key_listing numbers{.keys = {}, .failures = std::move(lent.failures)};
    if (are_semaphores) co_await listing_.scan(numbers, glob, "string");
    for (const auto& key : numbers.keys) {
        auto name = naming_.name_of(key);
        if (name && !key.starts_with("redisson_") && !is_of_native_layout(key))
            names.insert(std::move(*name));
    }
    const lock_listing::filter is_shown = [are_semaphores](const lock_info& info) {
        return info.held_by || (are_semaphores && info.free_permits);
    };
    co_return co_await listing_.inspect_all(numbers, std::move(names), is_shown);
}

asio::awaitable<void> locks::resize(std::string_view name, std::uint32_t permits) {
    if (options_.object == redisson_object::semaphore)
        throw error(
            errc::unsupported,
            "Redisson's Semaphore keeps only how many permits are free, not how many there "
            "are; begin one with `total_permits` (--permits K/N), and change it with addPermits on "
            "the Java side.");
    check_permit_count(permits);
    const auto names = naming_.names_of(name);
    const resize_call call{names, std::to_string(permits)};
    const auto server_reply = co_await run(names, call, reply_deadline());
    throw_if_refused(server_reply, names);
    call.read(server_reply);
}

asio::awaitable<bool> locks::force_release(std::string_view name, fencing_token expected) {
    const auto names = naming_.names_of(name);
    const force_release_call call{names, expected ? to_string(expected) : std::string()};
    const auto server_reply = co_await run(names, call, reply_deadline());
    throw_if_refused(server_reply, names);
    co_return call.read(server_reply);
}

asio::awaitable<examination> locks::examine() {
    auto report = co_await examine_servers(*servers_, time(), options_);
    co_await find_redlock_nodes(report, *servers_, time(), options_);
    report.guarantees.backend += ", Redisson's layout";
    report.findings.push_back({finding::grade::note, "Java's clocks", "not examined",
                               "FairLock and PermitExpirableSemaphore use the clock of each Java "
                               "host; synchronize these clocks"});
    report.guarantees.token =
        "can break: a FencedLock's counter starts again at 1 when the server loses its data; "
        "permits and read-write locks: as in the native layout";
    co_return report;
}

}  // namespace pawl::redis::redisson
