#include "lock_view.hpp"

#include "duration.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

constexpr duration nearly_over = 3s;

std::string formatted(const char* how, const std::tm& when) {
    std::array<char, 40> text{};
    return {text.data(), std::strftime(text.data(), text.size(), how, &when)};
}

}  // namespace

void write(json& to, const lock_info& what) {
    to.begin_object().field("name", what.name).field("held", what.held_by.has_value());
    to.key("holder");
    if (what.held_by) {
        const holder& by = *what.held_by;
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
        to.field("owner", by.owner)
            .field("count", static_cast<std::int64_t>(by.count))
            .end_object();
    } else {
        to.null();
    }
    to.field("waiters", static_cast<std::int64_t>(what.waiters)).end_object();
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

cell remaining_cell(const lock_info& what) {
    const duration left = what.held_by->remaining;
    return {readable(left), left < nearly_over ? colour::red : colour::none};
}

table lock_table(const std::vector<lock_info>& locks, const lease_view& lease) {
    using enum table::align;
    table result({{.title = "NAME", .side = left, .flexible = true},
                  {.title = "HOLDER", .side = left, .flexible = true},
                  {.title = "COMMAND", .side = left, .flexible = true},
                  {.title = "HELD FOR", .side = right, .flexible = false},
                  {.title = "REMAINING", .side = right, .flexible = false},
                  {.title = "WAITERS", .side = right, .flexible = false},
                  {.title = "TOKEN", .side = right, .flexible = false}});
    for (const lock_info& each : locks) {
        const auto waiters = std::to_string(each.waiters);
        const colour queue = each.waiters > 0 ? colour::yellow : colour::dim;
        if (!each.held_by) {
            result.add({{printable(each.name), colour::bold},
                        {"free", colour::green},
                        {},
                        {},
                        {},
                        {waiters, queue},
                        {}});
            continue;
        }
        const holder& by = *each.held_by;
        const bool known = by.since != std::chrono::system_clock::time_point{};
        result.add({{printable(each.name), colour::bold},
                    {who(by)},
                    {printable(by.command)},
                    {known ? readable(ago(by.since)) : "?"},
                    lease(each),
                    {waiters, queue},
                    {token_text(by), colour::dim}});
    }
    return result;
}

}  // namespace pawl::cli
