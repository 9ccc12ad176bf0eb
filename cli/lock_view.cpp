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

std::string formatted(const char* how, const std::tm& when) {
    std::array<char, 40> text{};
    return {text.data(), std::strftime(text.data(), text.size(), how, &when)};
}

// Null where there is none, or nobody has said.
void write_count(json& to, std::uint32_t count) {
    if (count == 0) {
        to.null();
    } else {
        to.number(std::int64_t{count});
    }
}

}  // namespace

void write(json& to, const holder& by) {
    to.begin_object().field("host", by.host).field("pid", by.pid).field("command", by.command);
    to.key("since");
    if (by.since == std::chrono::system_clock::time_point{}) {
        to.null();
    } else {
        to.text(utc(by.since));
    }
    to.key("remaining_ms");
    if (by.remaining == forever) {
        to.null();
    } else {
        to.number(std::int64_t{by.remaining / 1ms});
    }
    to.key("token");
    if (by.token) {
        to.text(to_string(by.token));
    } else {
        to.null();
    }
    to.field("owner", by.owner).field("count", static_cast<std::int64_t>(by.count));
    to.field("mode", to_string(by.mode));
    write_count(to.key("permits"), by.permits);
    to.end_object();
}

void write(json& to, const lock_info& what, const fields& more) {
    const auto all = holders_of(what);
    to.begin_object().field("name", what.name).field("held", is_held(what));
    to.key("mode");
    if (all.empty()) {
        to.null();
    } else {
        to.text(to_string(all.front().mode));
    }
    write_count(to.key("permits"), what.permits);
    to.key("free_permits");
    if (what.free_permits) {
        to.number(std::int64_t{*what.free_permits});
    } else {
        to.null();
    }
    to.key("holder");
    if (all.empty()) {
        to.null();
    } else {
        write(to, all.front());
    }
    to.key("others").begin_array();
    for (std::size_t i = 1; i < all.size(); ++i)
        write(to, all[i]);
    to.end_array();
    to.field("waiters", static_cast<std::int64_t>(what.waiters));
    for (const auto& [name, value] : more)
        to.field(name, value);
    to.end_object();
}

std::vector<holder> holders_of(const lock_info& what) {
    std::vector<holder> all = what.others;
    std::sort(all.begin(), all.end(), [](const holder& a, const holder& b) {
        return std::tie(a.since, a.token, a.owner) < std::tie(b.since, b.token, b.owner);
    });
    if (what.held_by) all.insert(all.begin(), *what.held_by);
    return all;
}

bool is_held(const lock_info& what) {
    return what.held_by || (what.free_permits && *what.free_permits == 0);
}

std::string mode_text(const lock_info& what, const holder& by) {
    if (by.mode != lock_mode::permits) return to_string(by.mode);
    const std::string of = what.permits == 0 ? "" : " of " + std::to_string(what.permits);
    return std::to_string(by.permits) + of;
}

std::string mode_summary(const lock_info& what) {
    const auto all = holders_of(what);
    if (all.empty() || all.front().mode == lock_mode::exclusive) return {};
    if (all.front().mode == lock_mode::shared) return ", shared by " + std::to_string(all.size());
    holder sum = all.front();
    sum.permits = 0;
    for (const holder& each : all)
        sum.permits += each.permits;
    return ", " + mode_text(what, sum) +
           (sum.permits == 1 && what.permits == 0 ? " permit" : " permits");
}

std::string who(const holder& what) {
    if (what.host.empty()) return "owner " + printable(what.owner) + "…";
    return printable(what.host) + "/" + std::to_string(what.pid);
}

std::string token_text(const holder& what) { return what.token ? to_string(what.token) : "none"; }

std::string utc(std::chrono::system_clock::time_point when) {
    const auto since = std::chrono::floor<std::chrono::milliseconds>(when.time_since_epoch());
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(since).count();
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 8> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%03dZ",
                  static_cast<int>((since % 1s).count()));
    return formatted("%Y-%m-%dT%H:%M:%S", parts) + fraction.data();
}

std::string local_time(std::chrono::system_clock::time_point when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    return formatted("%H:%M:%S", parts);
}

duration ago(std::chrono::system_clock::time_point when) {
    return std::max<duration>(0s, std::chrono::system_clock::now() - when);
}

cell remaining_cell(const lock_info& /*what*/, const holder& by) {
    return {readable(by.remaining), by.remaining < nearly_over ? colour::red : colour::none};
}

cell unheld_cell(const lock_info& what) {
    const std::string count = what.free_permits ? std::to_string(*what.free_permits) + " " : "";
    return {count + "free", is_held(what) ? colour::yellow : colour::green};
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
        const auto all = holders_of(each);
        if (all.empty()) result.add({name, unheld_cell(each), {}, {}, {}, {}, waiters, {}});
        for (const holder& by : all) {
            const bool known = by.since != std::chrono::system_clock::time_point{};
            result.add({name,
                        {mode_text(each, by)},
                        {who(by)},
                        {printable(by.command)},
                        {known ? readable(ago(by.since)) : "?"},
                        lease(each, by),
                        std::exchange(waiters, {}),  // once for all
                        {token_text(by), colour::dim}});
        }
    }
    return result;
}

}  // namespace pawl::cli
