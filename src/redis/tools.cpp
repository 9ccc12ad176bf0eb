#include "locks.hpp"

#include "doctor.hpp"
#include "options.hpp"
#include "redis_scripts.hpp"
#include "values.hpp"

#include <pawl/options.hpp>

#include <array>
#include <charconv>
#include <set>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

std::uint64_t unsigned_number(const reply& from) {
    if (from.what == reply::kind::integer)
        return static_cast<std::uint64_t>(std::max<std::int64_t>(from.number, 0));
    std::uint64_t value = 0;
    std::from_chars(from.text.data(), from.text.data() + from.text.size(), value);
    return value;
}

}  // namespace

asio::awaitable<examination> locks::examine() {
    auto report = co_await examine_server(*link_, time(), where_);
    co_return report;
}

asio::awaitable<lock_info> locks::inspect(std::string_view name) {
    lock_info found;
    found.name = name;
    const auto where = scheme_.of(name);
    const std::array<std::string_view, 3> names{where.lock, where.fence, where.queue};
    const auto answer = co_await scripts_.run(scripts::inspect, names, {}, soon());
    refuse_errors(answer, where.lock);
    if (answer.items.size() != 4)
        throw error(errc::protocol, where.lock + ": an answer that makes no sense.");
    found.waiters = unsigned_number(answer.items[3]);
    if (answer.items[0].what == reply::kind::string) {
        auto who = read_value(answer.items[0].text);
        const auto left = answer.items[1].number;
        // A lock of another library may have no end.
        who.remaining = left < 0 ? forever : std::chrono::milliseconds(left);
        who.token = fencing_token(unsigned_number(answer.items[2]));
        found.held_by = std::move(who);
    }
    co_return found;
}

asio::awaitable<std::vector<lock_info>> locks::list(std::string_view prefix) {
    std::set<std::string> names;
    const auto glob = scheme_.glob(prefix);
    std::string cursor = "0";
    do {
        const std::array<std::string_view, 8> words{"SCAN",  cursor, "MATCH", glob,
                                                    "COUNT", "1000", "TYPE",  "string"};
        const auto answer = co_await link_->exec(words, soon());
        refuse_errors(answer, describe(where_));
        if (answer.items.size() != 2) break;
        cursor = answer.items[0].text;
        for (const auto& key : answer.items[1].items) {
            if (auto name = scheme_.name_of(key.text)) names.insert(std::move(*name));
        }
    } while (cursor != "0");
    std::vector<lock_info> found;
    for (const auto& name : names) {
        auto one = co_await inspect(name);
        if (one.held_by) found.push_back(std::move(one));
    }
    co_return found;
}

asio::awaitable<bool> locks::force_release(std::string_view name) {
    const auto where = scheme_.of(name);
    if (!link_->connected()) co_await connect(soon());
    const auto lowest = floor();
    const std::array<std::string_view, 4> names{where.lock, where.fence, where.queue,
                                                where.waiters};
    const std::array<std::string_view, 2> arguments{lowest, scheme_.channel_prefix()};
    const auto answer = co_await scripts_.run(scripts::force, names, arguments, soon());
    refuse_errors(answer, where.lock);
    co_return answer.number == 1;
}

}  // namespace pawl::redis
