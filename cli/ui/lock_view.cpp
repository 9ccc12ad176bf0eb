// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_view.hpp"

#include "duration.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <tuple>
#include <utility>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr duration nearly_over = 3s;

std::string formatted(const char* format, const std::tm& when) {
    std::array<char, 40> text{};
    return {text.data(), std::strftime(text.data(), text.size(), format, &when)};
}

// Writes null for 0, which means that the number does not apply or is not known.
void write_count(json& out, std::uint32_t count) {
    if (count == 0) {
        out.null();
    } else {
        out.number(std::int64_t{count});
    }
}

}  // namespace

void write(json& out, const holder& lock_holder) {
    out.begin_object()
        .field("host", lock_holder.host)
        .field("pid", lock_holder.pid)
        .field("command", lock_holder.command);
    out.key("since");
    if (lock_holder.since == std::chrono::system_clock::time_point{}) {
        out.null();
    } else {
        out.text(format_utc(lock_holder.since));
    }
    out.key("remaining_ms");
    if (lock_holder.remaining == forever) {
        out.null();
    } else {
        out.number(std::int64_t{lock_holder.remaining / 1ms});
    }
    out.key("token");
    if (lock_holder.token) {
        out.text(to_string(lock_holder.token));
    } else {
        out.null();
    }
    out.field("owner", lock_holder.owner)
        .field("count", static_cast<std::int64_t>(lock_holder.count));
    out.field("mode", to_string(lock_holder.mode));
    write_count(out.key("permits"), lock_holder.permits);
    out.end_object();
}

void write(json& out, const lock_info& lock, const fields& more) {
    const auto holders = holders_of(lock);
    out.begin_object().field("name", lock.name).field("held", is_held(lock));
    out.key("mode");
    if (holders.empty()) {
        out.null();
    } else {
        out.text(to_string(holders.front().mode));
    }
    write_count(out.key("permits"), lock.permits);
    out.key("free_permits");
    if (lock.free_permits) {
        out.number(std::int64_t{*lock.free_permits});
    } else {
        out.null();
    }
    out.key("holder");
    if (holders.empty()) {
        out.null();
    } else {
        write(out, holders.front());
    }
    out.key("others").begin_array();
    for (std::size_t i = 1; i < holders.size(); ++i)
        write(out, holders[i]);
    out.end_array();
    out.field("waiters", static_cast<std::int64_t>(lock.waiters));
    for (const auto& [name, value] : more)
        out.field(name, value);
    out.end_object();
}

std::vector<holder> holders_of(const lock_info& lock) {
    std::vector<holder> holders = lock.others;
    std::sort(holders.begin(), holders.end(), [](const holder& a, const holder& b) {
        return std::tie(a.since, a.token, a.owner) < std::tie(b.since, b.token, b.owner);
    });
    if (lock.held_by) holders.insert(holders.begin(), *lock.held_by);
    return holders;
}

bool is_held(const lock_info& lock) {
    return lock.held_by || (lock.free_permits && *lock.free_permits == 0);
}

std::string mode_text(const lock_info& lock, const holder& lock_holder) {
    if (lock_holder.mode != lock_mode::permits) return to_string(lock_holder.mode);
    const std::string total = lock.permits == 0 ? "" : " of " + std::to_string(lock.permits);
    return std::to_string(lock_holder.permits) + total;
}

std::string mode_summary(const lock_info& lock) {
    const auto holders = holders_of(lock);
    if (holders.empty() || holders.front().mode == lock_mode::exclusive) return {};
    if (holders.front().mode == lock_mode::shared)
        return ", shared by " + std::to_string(holders.size());
    holder sum = holders.front();
    sum.permits = 0;
    for (const holder& each : holders)
        sum.permits += each.permits;
    return ", " + mode_text(lock, sum) +
           (sum.permits == 1 && lock.permits == 0 ? " permit" : " permits");
}

std::string holder_text(const holder& lock_holder) {
    if (lock_holder.host.empty()) return "owner " + printable(lock_holder.owner) + "…";
    return printable(lock_holder.host) + "/" + std::to_string(lock_holder.pid);
}

std::string token_text(const holder& lock_holder) {
    return lock_holder.token ? to_string(lock_holder.token) : "none";
}

std::string format_utc(std::chrono::system_clock::time_point when) {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(when.time_since_epoch());
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(since).count();
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 8> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%03dZ",
                  static_cast<int>((since % 1s).count()));
    return formatted("%Y-%m-%dT%H:%M:%S", parts) + fraction.data();
}

std::string format_local_time(std::chrono::system_clock::time_point when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    return formatted("%H:%M:%S", parts);
}

duration time_since(std::chrono::system_clock::time_point when) {
    return std::max<duration>(0s, std::chrono::system_clock::now() - when);
}

cell remaining_cell(const lock_info& /*lock*/, const holder& lock_holder) {
    return {format_readable(lock_holder.remaining),
            lock_holder.remaining < nearly_over ? colour::red : colour::none};
}

cell unheld_cell(const lock_info& lock) {
    const std::string count = lock.free_permits ? std::to_string(*lock.free_permits) + " " : "";
    return {count + "free", is_held(lock) ? colour::yellow : colour::green};
}

table lock_table(const std::vector<lock_info>& locks, const lease_view& lease) {
    using enum table::align;
    table result({{.title = "NAME", .side = left, .flexible = true},
                  {.title = "MODE", .side = left, .flexible = false},
                  {.title = "HOLDER", .side = left, .flexible = true},
                  {.title = "COMMAND", .side = left, .flexible = true},
                  {.title = "HELD FOR", .side = right, .flexible = false},
                  {.title = "REMAINING", .side = right, .flexible = false},
                  {.title = "WAITERS", .side = right, .flexible = false},
                  {.title = "TOKEN", .side = right, .flexible = false}});
    for (const lock_info& each : locks) {
        const cell name{printable(each.name), colour::bold};
        cell waiters{std::to_string(each.waiters), each.waiters > 0 ? colour::yellow : colour::dim};
        const auto holders = holders_of(each);
        if (holders.empty()) result.add({name, unheld_cell(each), {}, {}, {}, {}, waiters, {}});
        for (const holder& lock_holder : holders) {
            const bool has_start = lock_holder.since != std::chrono::system_clock::time_point{};
            result.add({name,
                        {mode_text(each, lock_holder)},
                        {holder_text(lock_holder)},
                        {printable(lock_holder.command)},
                        {has_start ? format_readable(time_since(lock_holder.since)) : "?"},
                        lease(each, lock_holder),
                        std::exchange(waiters, {}),  // once for all holders
                        {token_text(lock_holder), colour::dim}});
        }
    }
    return result;
}

}  // namespace pawl::cli
