#include "locks.hpp"

#include "redisson_scripts.hpp"
#include "refusals.hpp"

#include "../doctor.hpp"
#include "../numbers.hpp"
#include "../options.hpp"
#include "../server_errors.hpp"

#include <pawl/options.hpp>

#include <algorithm>
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

// The beginning of a permit's id, as Java writes it.
std::string shortened_id(const std::string& bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const auto one : bytes.substr(0, 4)) {
        const auto byte = static_cast<unsigned char>(one);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

// {owner, count, ms left, mode, permits}
holder read_holder(const reply& answer, fencing_token newest) {
    holder who;
    const auto& mode = answer.items[3].text;
    const bool permits = mode == "permits";
    const auto& owner = answer.items[0].text;
    who.owner = permits ? shortened_id(owner) : shortened(owner);
    who.count = static_cast<std::uint64_t>(number(answer.items[1]));
    const auto left = number(answer.items[2]);
    who.remaining = left < 0 ? forever : milliseconds_of(left);
    who.mode = permits            ? lock_mode::permits
               : mode == "shared" ? lock_mode::shared
                                  : lock_mode::exclusive;
    who.permits = static_cast<std::uint32_t>(number(answer.items[4]));
    // Which of the holders of permits has which token is written down nowhere.
    if (!permits) who.token = newest;
    return who;
}

// Locks and counters of tokens, which are strings too, with a key template and without.
bool of_native_layout(std::string_view key) {
    return key.starts_with("pawl:{") || key.starts_with("pawl:x:") || key.starts_with("pawl:y:");
}

std::uint32_t at_least_none(const reply& count) {
    return static_cast<std::uint32_t>(std::max<std::int64_t>(number(count), 0));
}

// A Semaphore keeps only how many are free, and looks like an expirable one that has lent nothing.
void read_permits(const reply& answer, redisson_object object, lock_info& into) {
    if (answer.items[4].what == reply::kind::nil) return;
    into.free_permits = at_least_none(answer.items[4]);
    const bool lends = number(answer.items[5]) > 0;
    if (lends || object != redisson_object::semaphore)
        into.permits = at_least_none(answer.items[0]);
}

}  // namespace

asio::awaitable<lock_info> locks::inspect(std::string_view name) {
    lock_info found;
    found.name = name;
    const auto where = naming_.of(name);
    if (!link_->connected()) co_await connect(soon());
    const std::string_view how = link_->current().sharded ? "SHARDNUMSUB" : "NUMSUB";
    const std::array<std::string_view, 4> keys{where.lock, where.counter, where.timeouts,
                                               where.lent};
    const std::array<std::string_view, 5> arguments{how, where.channel, where.rw_channel,
                                                    where.sc_channel, where.tagged};
    const auto answer = co_await scripts_.run(scripts::inspect, keys, arguments, soon());
    refuse(answer, where);
    if (answer.items.size() != 6)
        throw error(errc::protocol, where.lock +
                                        ": an unexpected reply to the inspect script;"
                                        " run `pawl doctor` to see what kind of server this is.");
    read_permits(answer, where_.object, found);
    const fencing_token newest(static_cast<std::uint64_t>(number(answer.items[1])));
    found.waiters = static_cast<std::uint64_t>(number(answer.items[2]));
    for (const auto& one : answer.items[3].items) {
        if (one.items.size() != 5) continue;
        auto who = read_holder(one, newest);
        if (found.held_by)
            found.others.push_back(std::move(who));
        else
            found.held_by = std::move(who);
    }
    co_return found;
}

// Locks are hashes. What an expirable semaphore has lent is a sorted set beside it. A Semaphore is
// a number, as much else may be: only where the URL says that it is one, it counts as such.
asio::awaitable<std::vector<lock_info>> locks::list(std::string_view prefix) {
    std::set<std::string> names;
    const auto glob = naming_.glob(prefix);
    const auto hashes = co_await scan(glob, "hash");
    for (const auto& key : hashes) {
        if (auto name = naming_.name_of(key)) names.insert(std::move(*name));
    }
    const std::array<std::string, 2> patterns{"{" + glob + "}:timeout", glob + ":timeout"};
    for (const auto& pattern : patterns) {
        const auto lent = co_await scan(pattern, "zset");
        for (const auto& key : lent) {
            for (auto& name : naming_.names_of_lent(key))
                names.insert(std::move(name));
        }
    }
    const bool semaphores = where_.object == redisson_object::semaphore;
    if (semaphores) {
        const auto numbers = co_await scan(glob, "string");
        for (const auto& key : numbers) {
            auto name = naming_.name_of(key);
            if (name && !key.starts_with("redisson_") && !of_native_layout(key))
                names.insert(std::move(*name));
        }
    }
    std::vector<lock_info> found;
    for (const auto& name : names) {
        try {
            auto one = co_await inspect(name);
            if (one.held_by || (semaphores && one.free_permits)) found.push_back(std::move(one));
        } catch (const error& e) {
            if (e.reason() != errc::wrong_type) throw;  // of another program
        }
    }
    co_return found;
}

asio::awaitable<void> locks::resize(std::string_view name, std::uint32_t permits) {
    if (where_.object == redisson_object::semaphore)
        throw error(errc::unsupported,
                    "Redisson's Semaphore keeps only how many permits are free, not how many there "
                    "are; begin one with `of` (--permits K/N), and change it with addPermits on "
                    "the Java side.");
    refuse_huge_count(permits);
    const auto where = naming_.of(name);
    if (!link_->connected()) co_await connect(soon());
    const auto count = std::to_string(permits);
    const std::array<std::string_view, 2> keys{where.lock, where.lent};
    const std::array<std::string_view, 3> arguments{count, publish(), where.sc_channel};
    const auto answer = co_await scripts_.run(scripts::resize, keys, arguments, soon());
    refuse(answer, where);
}

asio::awaitable<bool> locks::force_release(std::string_view name) {
    const auto where = naming_.of(name);
    if (!link_->connected()) co_await connect(soon());
    const std::array<std::string_view, 5> keys{where.lock, where.queue, where.timeouts, where.lent,
                                               where.seen};
    const std::array<std::string_view, 4> arguments{publish(), where.channel, where.rw_channel,
                                                    where.sc_channel};
    const auto answer = co_await scripts_.run(scripts::force, keys, arguments, soon());
    refuse(answer, where);
    co_return answer.number == 1;
}

asio::awaitable<examination> locks::examine() {
    auto report = co_await examine_server(*link_, time(), where_);
    report.guarantees.backend += ", Redisson's layout";
    report.findings.push_back({finding::grade::note, "Java's clocks", "not looked at",
                               "FairLock and PermitExpirableSemaphore count with the clock of each "
                               "Java host; keep them all right"});
    report.guarantees.token = "starts again when the server forgets its data";
    co_return report;
}

}  // namespace pawl::redis::redisson
