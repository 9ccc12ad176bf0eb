#include "locks.hpp"

#include "redisson_scripts.hpp"

#include "../doctor.hpp"
#include "../options.hpp"
#include "../server_errors.hpp"

#include <pawl/options.hpp>

#include <array>
#include <set>

namespace asio = boost::asio;

namespace pawl::redis::redisson {
namespace {

// The first part of the UUID, and the thread: enough to find it in a Java program's log.
std::string shortened(const std::string& owner) {
    const auto colon = owner.find(':');
    return owner.substr(0, 8) + owner.substr(std::min(colon, owner.size()), 21);
}

holder read_holder(const reply& answer) {
    holder who;
    who.owner = shortened(answer.items[0].text);
    who.count = static_cast<std::uint64_t>(number(answer.items[1]));
    const auto left = number(answer.items[2]);
    who.remaining = left < 0 ? forever : std::chrono::milliseconds(left);
    who.token = fencing_token(static_cast<std::uint64_t>(number(answer.items[3])));
    return who;
}

}  // namespace

asio::awaitable<lock_info> locks::inspect(std::string_view name) {
    lock_info found;
    found.name = name;
    const auto where = naming_.of(name);
    const std::array<std::string_view, 2> keys{where.lock, where.counter};
    const std::array<std::string_view, 1> arguments{where.channel};
    const auto answer = co_await scripts_.run(scripts::inspect, keys, arguments, soon());
    refuse(answer, where.lock);
    if (answer.items.size() != 5)
        throw error(errc::protocol, where.lock + ": an answer that makes no sense.");
    if (answer.items[0].what == reply::kind::string) found.held_by = read_holder(answer);
    found.waiters = static_cast<std::uint64_t>(number(answer.items[4]));
    co_return found;
}

asio::awaitable<std::vector<lock_info>> locks::list(std::string_view prefix) {
    std::set<std::string> names;
    const auto glob = naming_.glob(prefix);
    std::string cursor = "0";
    do {
        const std::array<std::string_view, 8> words{"SCAN",  cursor, "MATCH", glob,
                                                    "COUNT", "1000", "TYPE",  "hash"};
        const auto answer = co_await link_->exec(words, soon());
        refuse_errors(answer, describe(where_));
        if (answer.items.size() != 2) break;
        cursor = answer.items[0].text;
        for (const auto& key : answer.items[1].items) {
            if (auto name = naming_.name_of(key.text)) names.insert(std::move(*name));
        }
    } while (cursor != "0");
    std::vector<lock_info> found;
    for (const auto& name : names) {
        try {
            auto one = co_await inspect(name);
            if (one.held_by) found.push_back(std::move(one));
        } catch (const error& e) {
            if (e.reason() != errc::wrong_type) throw;  // a hash of another program
        }
    }
    co_return found;
}

asio::awaitable<bool> locks::force_release(std::string_view name) {
    const auto where = naming_.of(name);
    const std::array<std::string_view, 1> keys{where.lock};
    const std::array<std::string_view, 1> arguments{where.channel};
    const auto answer = co_await scripts_.run(scripts::force, keys, arguments, soon());
    refuse(answer, where.lock);
    co_return answer.number == 1;
}

asio::awaitable<examination> locks::examine() {
    auto report = co_await examine_server(*link_, time(), where_);
    report.guarantees.backend += ", Redisson's layout";
    report.guarantees.token = "starts again when the server forgets its data";
    co_return report;
}

}  // namespace pawl::redis::redisson
