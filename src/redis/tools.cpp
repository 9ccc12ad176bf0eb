#include "locks.hpp"

#include "doctor.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "redis_scripts.hpp"
#include "server_errors.hpp"
#include "values.hpp"
#include "wrong_type.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

std::uint64_t unsigned_number(const reply& from) {
    if (from.what == reply::kind::integer)
        return static_cast<std::uint64_t>(std::max<std::int64_t>(from.number, 0));
    return number(from.text);
}

std::uint64_t take_number(std::string_view& text) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
    return value;
}

using detail_map = std::map<std::string_view, const reply*>;

detail_map read_details(const reply& fields) {
    detail_map found;
    for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2)
        found[fields.items[i].text] = &fields.items[i + 1];
    return found;
}

// As inspect.lua answers: the living, the one whose hold began first in front.
std::vector<holder> holders_beside(const reply& answer, const detail_map& details) {
    std::vector<holder> found;
    const auto& ends = answer.items[4].items;
    const auto now = static_cast<std::int64_t>(unsigned_number(answer.items[6]));
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
        const auto detail = details.find(ends[i].text);
        const auto left = static_cast<std::int64_t>(unsigned_number(ends[i + 1])) - now;
        if (detail == details.end() || left <= 0) continue;
        // PERMITS TOKEN VALUE
        std::string_view text = detail->second->text;
        const auto permits = static_cast<std::uint32_t>(take_number(text));
        const fencing_token token(take_number(text));
        auto who = read_value(text);
        const bool counts = answer.items[0].text == "pawl:permits";
        who.mode = counts ? lock_mode::permits : lock_mode::shared;
        who.permits = counts ? permits : 0;
        who.token = token;
        who.remaining = milliseconds_of(left);
        found.push_back(std::move(who));
    }
    std::ranges::stable_sort(found, {}, &holder::since);
    return found;
}

}  // namespace

asio::awaitable<void> locks::refuse(const reply& answer, const keys& where) {
    const auto all = typed(where);
    co_await redis::refuse(*link_, answer, all, soon());
}

asio::awaitable<examination> locks::examine() {
    auto report = co_await examine_server(*link_, time(), where_);
    co_return report;
}

asio::awaitable<lock_info> locks::inspect(std::string_view name) {
    lock_info found;
    found.name = name;
    const auto where = scheme_.of(name);
    const std::array<std::string_view, 5> names{where.lock, where.fence, where.queue, where.holders,
                                                where.details};
    const auto answer = co_await scripts_.run(scripts::inspect, names, {}, soon());
    if (answer.what == reply::kind::error) co_await refuse(answer, where);
    if (answer.items.size() != 7)
        throw error(errc::protocol, where.lock +
                                        ": an unexpected reply to the inspect script;"
                                        " run `pawl doctor` to see what kind of server this is.");
    found.waiters = unsigned_number(answer.items[3]);
    const auto details = read_details(answer.items[5]);
    if (const auto n = details.find("n"); n != details.end())
        found.permits = static_cast<std::uint32_t>(unsigned_number(*n->second));
    if (answer.items[0].what != reply::kind::string) co_return found;
    const auto& value = answer.items[0].text;
    // A mark without holders is not this scheme's, or its holders were evicted: nobody comes in.
    const bool marked = value == "pawl:shared" || value == "pawl:permits";
    if (marked && !answer.items[4].items.empty()) {
        for (auto& who : holders_beside(answer, details))
            if (found.held_by)
                found.others.push_back(std::move(who));
            else
                found.held_by = std::move(who);
        co_return found;
    }
    auto who = marked ? holder{} : read_value(value);
    const auto left = answer.items[1].number;
    // A lock of another library may have no end.
    who.remaining = left < 0 ? forever : milliseconds_of(left);
    // Where others share the key, the counter may be of an earlier hold.
    if (!marked && (is_pawls(who) || !scheme_.shared_with_others()))
        who.token = fencing_token(unsigned_number(answer.items[2]));
    found.held_by = std::move(who);
    co_return found;
}

asio::awaitable<std::vector<lock_info>> locks::list(std::string_view prefix) {
    std::set<std::string> names;
    const auto keys = co_await scan(scheme_.glob(prefix), "string");
    for (const auto& key : keys) {
        if (auto name = scheme_.name_of(key)) names.insert(std::move(*name));
    }
    std::vector<lock_info> found;
    for (const auto& name : names) {
        try {
            auto one = co_await inspect(name);
            if (one.held_by) found.push_back(std::move(one));
        } catch (const error& e) {
            if (e.reason() != errc::wrong_type) throw;  // of another program
        }
    }
    co_return found;
}

asio::awaitable<bool> locks::force_release(std::string_view name) {
    const auto where = scheme_.of(name);
    if (!link_->connected()) co_await connect(soon());
    const auto lowest = floor();
    const auto names = where.all();
    const auto run = link_->current().run_id;
    const std::array<std::string_view, 3> arguments{lowest, scheme_.channel_prefix(), run};
    const auto answer = co_await scripts_.run(scripts::force, names, arguments, soon());
    if (answer.what == reply::kind::error) co_await refuse(answer, where);
    co_return answer.number == 1;
}

asio::awaitable<std::optional<grant>> locks::downgrade(const hold& what) {
    const auto where = scheme_.of(what.claim.name);
    const auto give_up_at = what.grant.deadline;
    if (!link_->connected()) co_await connect(give_up_at);
    const auto names = where.all();
    const auto ttl = milliseconds(what.claim.ttl);
    const auto token = to_string(what.grant.token);
    const auto lowest = floor();
    const auto run = link_->current().run_id;
    const std::array<std::string_view, 6> arguments{what.grant.proof,         ttl, token, lowest,
                                                    scheme_.channel_prefix(), run};
    const auto asked = now();
    const auto answer = co_await scripts_.run(scripts::downgrade, names, arguments, give_up_at);
    if (answer.what == reply::kind::error) co_await refuse(answer, where);
    if (answer.number != 1) co_return std::nullopt;
    grant given = what.grant;
    given.deadline = asked + what.claim.ttl - drift(what.claim.ttl);
    co_return given;
}

asio::awaitable<void> locks::resize(std::string_view name, std::uint32_t permits) {
    const auto where = scheme_.of(name);
    if (!link_->connected()) co_await connect(soon());
    const auto names = where.all();
    const auto n = std::to_string(permits);
    const auto lowest = floor();
    const auto run = link_->current().run_id;
    const std::array<std::string_view, 4> arguments{n, lowest, scheme_.channel_prefix(), run};
    const auto answer = co_await scripts_.run(scripts::resize, names, arguments, soon());
    if (answer.what == reply::kind::error) co_await refuse(answer, where);
}

}  // namespace pawl::redis
