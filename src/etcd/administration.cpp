// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "administration.hpp"

#include "../core/store/permits.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::etcd {
namespace {

// The keys that one request reads for a list.
constexpr std::int64_t keys_at_once = 1000;
// The holders that one transaction releases.
constexpr std::size_t releases_at_once = 50;
constexpr int most_release_attempts = 20;
// A waiter that has just become the holder writes its token within about this time.
constexpr int looks_for_token = 20;
constexpr duration pause_for_token = 50ms;

using remaining_times = std::map<std::int64_t, duration>;

std::uint32_t total_in(const operation_answer& answer) noexcept {
    std::uint32_t total = 0;
    if (answer.values.empty()) return 0;
    const std::string_view text = answer.values.front().value;
    std::from_chars(text.data(), text.data() + text.size(), total);
    return total;
}

struct known_lock {
    lock_line line;
    std::uint32_t total = 0;
};

asio::awaitable<known_lock> read_lock(std::shared_ptr<lock_client> client, std::string name,
                                      time_point give_up_at) {
    const auto beginning = client->keys().line(name);
    const transaction asked{
        .success = {operation::get_all(beginning), operation::get(client->keys().total(name))}};
    const auto answer = co_await client->run(asked.encode(), give_up_at);
    known_lock result{lock_line(answer.at(0), beginning, answer.revision), total_in(answer.at(1))};
    co_return result;
}

// Looks again while a holder has not written its token, for a short time.
asio::awaitable<known_lock> read_confirmed_lock(std::shared_ptr<lock_client> client,
                                                std::string name, time_point give_up_at,
                                                int most_looks = looks_for_token) {
    core::wakeup timer(*client->context().time, client->context().strand);
    for (int looks = 0;; ++looks) {
        auto present = co_await read_lock(client, name, give_up_at);
        const auto holders = present.line.holders(present.total);
        if (!present.line.has_unconfirmed_before(holders) || looks >= most_looks ||
            client->now() + pause_for_token >= give_up_at)
            co_return present;
        co_await timer.wait_until(client->now() + pause_for_token);
    }
}

holder make_holder(const line_entry& entry, const remaining_times& leases) {
    holder shown;
    shown.host = entry.value.process.host;
    shown.pid = entry.value.process.pid;
    shown.command = entry.value.process.command;
    shown.since =
        std::chrono::system_clock::time_point(std::chrono::milliseconds(entry.value.since_ms));
    shown.token = entry.token();
    shown.owner = key_scheme::owner_of(entry.key).substr(0, 8);
    shown.mode = entry.value.share.mode;
    shown.permits = entry.value.share.permits;
    const auto at = leases.find(entry.lease);
    shown.remaining = entry.lease == 0     ? duration::max()
                      : at == leases.end() ? duration{}
                                           : at->second;
    return shown;
}

lock_info make_info(std::string name, const known_lock& present, const remaining_times& leases) {
    lock_info info;
    info.name = std::move(name);
    info.permits = present.total;
    const auto& entries = present.line.entries();
    const auto holders = present.line.holders(present.total);
    for (std::size_t i = 0; i < holders; ++i) {
        auto shown = make_holder(entries[i], leases);
        if (i == 0)
            info.held_by = std::move(shown);
        else
            info.others.push_back(std::move(shown));
    }
    info.waiters = entries.size() - holders;
    core::set_free_permits(info);
    return info;
}

void add_leases(const known_lock& present, std::set<std::int64_t>& leases) {
    const auto holders = present.line.holders(present.total);
    for (std::size_t i = 0; i < holders; ++i)
        if (present.line.entries()[i].lease != 0) leases.insert(present.line.entries()[i].lease);
}

asio::awaitable<remaining_times> read_leases(std::shared_ptr<lock_client> client,
                                             std::set<std::int64_t> leases, time_point give_up_at) {
    remaining_times result;
    for (const auto lease : leases) {
        const auto answer = co_await client->link().call(methods::lease_time_to_live,
                                                         lease_request(lease), give_up_at);
        result[lease] = std::chrono::seconds(std::max<std::int64_t>(0, read_lease_seconds(answer)));
    }
    co_return result;
}

// The keys of all locks whose names begin so, by name. Several requests read one revision.
asio::awaitable<std::map<std::string, operation_answer>> read_lines(
    std::shared_ptr<lock_client> client, std::string prefix, time_point give_up_at) {
    std::map<std::string, operation_answer> lines;
    auto next = client->keys().lines(prefix);
    const auto end = next.empty() ? std::string(1, '\0') : end_of_prefix(next);
    if (next.empty()) next = std::string(1, '\0');
    std::int64_t revision = 0;
    for (bool has_more = true; has_more;) {
        const auto answer = co_await client->link().call(
            methods::range, range_request(next, end, keys_at_once, revision), give_up_at);
        const auto page = read_range(answer);
        revision = page.revision;
        has_more = page.range.has_more && !page.range.values.empty();
        if (has_more) next = page.range.values.back().key + '\0';
        for (const auto& each : page.range.values)
            if (const auto name = client->keys().name_of(each.key))
                lines[*name].values.push_back(each);
    }
    co_return lines;
}

asio::awaitable<std::map<std::string, std::uint32_t>> read_totals(
    std::shared_ptr<lock_client> client, std::string prefix, time_point give_up_at) {
    std::map<std::string, std::uint32_t> totals;
    const auto all = client->keys().total("");
    auto next = client->keys().total(prefix);
    const auto end = end_of_prefix(next);
    for (bool has_more = true; has_more;) {
        const auto answer = co_await client->link().call(
            methods::range, range_request(next, end, keys_at_once, 0), give_up_at);
        const auto page = read_range(answer);
        has_more = page.range.has_more && !page.range.values.empty();
        if (has_more) next = page.range.values.back().key + '\0';
        for (const auto& each : page.range.values) {
            operation_answer one;
            one.values.push_back(each);
            totals[each.key.substr(all.size())] = total_in(one);
        }
    }
    co_return totals;
}

// One transaction: these holders and no others, and their clients are told by their guards.
transaction make_release(const lock_client& client, std::span<const line_entry> victims) {
    transaction request;
    std::map<std::int64_t, std::string> owners;
    for (const auto& each : victims) {
        request.conditions.push_back(condition::created_at(each.key, each.created));
        request.success.push_back(operation::remove(each.key));
        if (each.lease == 0) continue;
        auto& text = owners[each.lease];
        text += (text.empty() ? "" : " ") + std::string(key_scheme::owner_of(each.key));
    }
    for (const auto& [lease, text] : owners)
        request.success.push_back(
            operation::put(client.keys().guard(session_id(lease)), text, lease));
    return request;
}

std::vector<line_entry> victims_of(const known_lock& present, fencing_token expected) {
    const auto& entries = present.line.entries();
    std::vector<line_entry> victims(
        entries.begin(),
        entries.begin() + static_cast<std::ptrdiff_t>(present.line.holders(present.total)));
    if (!expected) return victims;
    const auto has_token = [&](const line_entry& each) { return each.token() == expected; };
    if (std::ranges::none_of(victims, has_token)) return {};
    std::erase_if(victims, [&](const line_entry& each) { return each.token() > expected; });
    return victims;
}

}  // namespace

asio::awaitable<lock_info> inspect(std::shared_ptr<lock_client> client, std::string name) {
    const core::in_flight::guard operation(client->operations());
    const auto limit = client->try_deadline();
    const auto present = co_await read_confirmed_lock(client, name, limit);
    std::set<std::int64_t> leases;
    add_leases(present, leases);
    const auto remaining = co_await read_leases(client, std::move(leases), limit);
    co_return make_info(std::move(name), present, remaining);
}

asio::awaitable<std::vector<lock_info>> list(std::shared_ptr<lock_client> client,
                                             std::string prefix) {
    const core::in_flight::guard operation(client->operations());
    const auto limit = client->try_deadline();
    const auto lines = co_await read_lines(client, prefix, limit);
    const auto totals = co_await read_totals(client, prefix, limit);
    std::vector<std::pair<std::string, known_lock>> locks;
    std::set<std::int64_t> leases;
    for (const auto& [name, range] : lines) {
        const auto beginning = client->keys().line(name);
        const auto encoded = client->keys().total(name).substr(client->keys().total("").size());
        const auto total = totals.find(encoded);
        known_lock present{lock_line(range, beginning, 0),
                           total == totals.end() ? 0 : total->second};
        add_leases(present, leases);
        locks.emplace_back(name, std::move(present));
    }
    const auto remaining = co_await read_leases(client, std::move(leases), limit);
    std::vector<lock_info> result;
    for (const auto& [name, present] : locks)
        result.push_back(make_info(name, present, remaining));
    co_return result;
}

asio::awaitable<bool> force_release(std::shared_ptr<lock_client> client, std::string name,
                                    fencing_token expected) {
    const core::in_flight::guard operation(client->operations());
    const auto limit = client->try_deadline();
    bool has_released = false;
    for (int repetition = 0; repetition < most_release_attempts; ++repetition) {
        const auto present =
            co_await read_confirmed_lock(client, name, limit, expected ? looks_for_token : 0);
        auto victims = victims_of(present, expected);
        if (victims.empty()) co_return has_released;
        const bool is_last = victims.size() <= releases_at_once;
        if (!is_last) victims.resize(releases_at_once);
        bool is_done = false;
        try {
            const auto answer =
                co_await client->run(make_release(*client, victims).encode(), limit);
            is_done = answer.succeeded;
        } catch (const call_error& failed) {
            if (failed.code() != call_status::not_found) throw;  // a lease has just ended
        }
        has_released = has_released || is_done;
        if (is_done && is_last) co_return true;
    }
    throw error(errc::unavailable, "The holders of the lock '" + name +
                                       "' change too fast to release them; try again.");
}

asio::awaitable<void> resize(std::shared_ptr<lock_client> client, std::string name,
                             std::uint32_t permits) {
    const core::in_flight::guard operation(client->operations());
    const transaction request{
        .success = {operation::put(client->keys().total(name), std::to_string(permits), 0)}};
    co_await client->run(request.encode(), client->try_deadline());
    client->set_known_total(name, permits);
}

}  // namespace pawl::etcd
