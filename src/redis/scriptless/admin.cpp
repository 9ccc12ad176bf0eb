// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../common/values.hpp"
#include "../doctor/assessment.hpp"
#include "../doctor/doctor.hpp"
#include "../transport/server_errors.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace asio = boost::asio;

namespace pawl::redis::scriptless {
namespace {

// Longer than any lock's value. Another program may keep megabytes under the key.
constexpr std::size_t longest_value = 4096;
constexpr std::string_view last_byte = "4095";
// How often `inspect` reads a lock whose holder changes meanwhile. Then it shows no token.
constexpr int most_readings = 3;

// The value is the mark of holders that clients with scripts have admitted.
bool is_mark(std::string_view value) { return value == "pawl:shared" || value == "pawl:permits"; }

}  // namespace

// The two replies may belong to two holds, so nothing may be deleted without comparing the value.
asio::awaitable<std::optional<locks::stored_lock>> locks::read_lock(const keys& lock_keys) {
    const auto key = lock_keys.lock();
    const auto give_up_at = reply_deadline();
    const std::array<std::string_view, 4> read{"GETRANGE", key, "0", last_byte};
    const auto value = co_await exec_at(*servers_, key, read, give_up_at);
    throw_if_error(value, std::string(key));
    const std::array<std::string_view, 2> ask{"PTTL", key};
    const auto left = co_await exec_at(*servers_, key, ask, give_up_at);
    throw_if_error(left, std::string(key));
    constexpr std::int64_t missing = -2;
    const auto left_ms = parse_number(left);
    // Without a value, the lock was free, and may have been acquired since.
    if (left_ms == missing || value.text.empty()) co_return std::nullopt;
    co_return stored_lock{value.text, left_ms, {}};
}

// Reads the lock and its token; the token is empty if the holder changes all the time, or is of
// another library.
asio::awaitable<std::optional<locks::stored_lock>> locks::read_with_token(const keys& lock_keys) {
    auto stored = co_await read_lock(lock_keys);
    for (int reading = 1; stored; ++reading) {
        // If other libraries share the key, the counter may belong to an earlier hold.
        if (is_mark(stored->value) || !is_written_by_pawl(parse_value(stored->value))) break;
        const std::array<std::string_view, 4> read{"GETRANGE", lock_keys.fence(), "0", "31"};
        const auto token = co_await exec_at(*servers_, lock_keys.fence(), read, reply_deadline());
        throw_if_error(token, std::string(lock_keys.fence()));
        auto after = co_await read_lock(lock_keys);
        if (after && after->value == stored->value) {
            stored->token = fencing_token(parse_number<std::uint64_t>(token.text));
            break;
        }
        if (reading == most_readings) break;
        stored = std::move(after);
    }
    co_return stored;
}

asio::awaitable<lock_info> locks::inspect(std::string_view name) {
    lock_info info;
    info.name = name;
    const auto lock_keys = scheme_.keys_of(name);
    const auto stored = co_await read_with_token(lock_keys);
    if (!stored) co_return info;
    auto result = is_mark(stored->value) ? holder{} : parse_value(stored->value);
    // A lock of another library may never expire.
    result.remaining = stored->left_ms < 0 ? forever : milliseconds_of(stored->left_ms);
    result.token = stored->token;
    info.held_by = std::move(result);
    co_return info;
}

asio::awaitable<std::vector<lock_info>> locks::list(std::string_view prefix) {
    std::set<std::string> names;
    key_listing listed;
    co_await listing_.scan(listed, scheme_.glob(prefix), "string");
    for (const auto& key : listed.keys) {
        if (auto name = scheme_.name_of(key)) names.insert(std::move(*name));
    }
    co_return co_await listing_.inspect_all(listed, std::move(names), lock_listing::is_held);
}

// Deletes only the value that it has read, which is not a mark: behind a mark, other keys have the
// holders.
asio::awaitable<bool> locks::force_release(std::string_view name, fencing_token expected) {
    const auto lock_keys = scheme_.keys_of(name);
    const auto stored = co_await read_with_token(lock_keys);
    if (!stored || (expected && stored->token != expected)) co_return false;
    if (is_mark(stored->value))
        throw error(errc::unsupported,
                    "The lock '" + std::string(name) +
                        "' is held by readers or by holders of permits, of clients with scripts; "
                        "release it with a URL without scripts=no.");
    if (stored->value.size() >= longest_value)
        throw error(errc::wrong_type, std::string(lock_keys.lock()) +
                                          ": holds a text that is too long for a lock; choose "
                                          "another name, namespace or key template.");
    const auto answer = co_await delete_value(lock_keys.lock(), stored->value, reply_deadline());
    throw_if_error(answer, std::string(lock_keys.lock()));
    // False: the hold that was there has ended meanwhile, or another one has followed it.
    co_return answer.type == reply::kind::string || !expected;
}

// A key that this server has. In a cluster, each node has some of the first keys.
std::string locks::key_at(const link& server_link) const {
    constexpr int most_tries = 10'000;
    for (int i = 0; i < most_tries; ++i) {
        const auto lock_keys = scheme_.keys_of("pawl-doctor-" + std::to_string(i));
        if (&link_of(lock_keys) == &server_link) return std::string(lock_keys.lock());
    }
    return {};
}

asio::awaitable<examination> locks::examine() {
    auto report = co_await examine_servers(*servers_, time(), options_);
    co_await find_redlock_nodes(report, *servers_, time(), options_);
    report.guarantees.backend += ", without scripts";
    bool has_usable_server = false;
    bool has_useless_server = false;
    for (auto* each : std::vector(servers_->links().begin(), servers_->links().end())) {
        const auto key = key_at(*each);
        if (key.empty() || !each->connected()) continue;
        finding result = conditional_set_finding(true);
        try {
            co_await check_server(*each, key, reply_deadline());
            has_usable_server = true;
        } catch (const error& e) {
            // A server that gives no answer has a finding already.
            if (e.reason() != errc::unsupported) continue;
            result = conditional_set_finding(false);
            has_useless_server = true;
        }
        const auto name = each->server_name();
        if (std::ranges::count(report.nodes, name, &examined_node::name) > 0) result.node = name;
        report.findings.push_back(std::move(result));
    }
    if (has_useless_server && !has_usable_server)
        deny_guarantees(report.guarantees, report.guarantees.backend);
    co_return report;
}

}  // namespace pawl::redis::scriptless
