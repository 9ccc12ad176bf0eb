#include "lists.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>

#include <unistd.h>

namespace pawl::conformance {

namespace {

void inspect_tells_the_truth(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), eyes(here.where);
    require(is_free(eyes, "it"), "a lock that nobody ever asked for is held");
    auto lock = mine.acquire("it", {.ttl = 20s, .wait = soon});
    const lock_info found = eyes.inspect("it");
    require_equal(found.name, std::string("it"), "the name");
    require(found.held_by.has_value(), "a held lock has no holder");
    require_equal(found.held_by->token, lock.token(), "the holder's token");
    require_equal(found.held_by->count, std::uint64_t{1}, "how often the holder entered");
    require(found.held_by->remaining > 0s && found.held_by->remaining <= 20s,
            "the remaining time is not within the ttl");
    require(!found.held_by->owner.empty() && found.held_by->owner.size() < 32,
            "the owner is missing, or long enough to release with");
    require_equal(found.waiters, std::uint64_t{0}, "the waiters of a lock that nobody waits for");
    (void)lock.release();
    require(is_free(eyes, "it"), "a released lock has a holder");
}

void inspect_names_the_holder(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where, {.command = "the teller"}), eyes(here.where);
    auto lock = mine.acquire("it", {.ttl = 20s, .wait = soon});
    const lock_info found = eyes.inspect("it");
    require(found.held_by.has_value(), "a held lock has no holder");
    require_equal(found.held_by->command, std::string("the teller"), "the holder's command");
    require_equal(found.held_by->pid, std::int64_t{::getpid()}, "the holder's pid");
    require(!found.held_by->host.empty(), "the holder has no host");
    const auto age = std::chrono::system_clock::now() - found.held_by->since;
    require(age > -5s && age < 60s, "the lock is held since a time that is not about now");
    for (const lock_info& each : eyes.list())
        require(each.held_by && each.held_by->pid == ::getpid(),
                "a listed lock has the wrong holder");
}

void inspect_changes_nothing(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), eyes(here.where);
    for (int i = 0; i < 5; ++i)
        (void)eyes.inspect("it");
    require(eyes.list().empty(), "looking at a lock made one");
    auto lock = mine.try_acquire("it", {.ttl = long_ttl});
    require(static_cast<bool>(lock), "looking at a lock keeps others from it");
}

void inspect_sees_other_processes(fixture& of) {
    const world here = of.fresh();
    blocking::client eyes(here.where);
    agent holder(here);
    const fencing_token token = holder.acquire("it", long_ttl);
    const lock_info found = eyes.inspect("it");
    require(found.held_by.has_value(), "a lock held by another process has no holder");
    require_equal(found.held_by->token, token, "the holder's token");
}

void inspect_names_other_processes(fixture& of) {
    const world here = of.fresh();
    blocking::client eyes(here.where);
    agent holder(here);
    (void)holder.acquire("it", long_ttl);
    const lock_info found = eyes.inspect("it");
    require(found.held_by.has_value(), "a lock held by another process has no holder");
    require_equal(found.held_by->pid, std::int64_t{holder.process().pid()}, "the holder's pid");
    require_equal(found.held_by->command, std::string("conformance agent"), "the holder's command");
}

std::vector<std::string> names_of(const std::vector<lock_info>& locks) {
    std::vector<std::string> result;
    for (const lock_info& each : locks)
        result.push_back(each.name);
    std::sort(result.begin(), result.end());
    return result;
}

void list_shows_what_is_held(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), eyes(here.where);
    require(eyes.list().empty(), "a fresh world has locks");
    auto one = mine.acquire("shop/one", {.ttl = long_ttl});
    auto two = mine.acquire("shop/two", {.ttl = long_ttl});
    auto far = mine.acquire("farm", {.ttl = long_ttl});
    auto gone = mine.acquire("shop/gone", {.ttl = long_ttl});
    (void)gone.release();
    require(names_of(eyes.list("shop/")) == std::vector<std::string>{"shop/one", "shop/two"},
            "list(\"shop/\") does not show the two held locks of that prefix");
    require(names_of(eyes.list()) == std::vector<std::string>{"farm", "shop/one", "shop/two"},
            "list() does not show the three held locks");
    require(eyes.list("nothing").empty(), "list of a prefix that no lock has is not empty");
    for (const lock_info& each : eyes.list())
        require(each.held_by.has_value(), "a listed lock has no holder");
}

void list_takes_the_prefix_literally(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where);
    auto star = mine.acquire("*", {.ttl = long_ttl});
    auto under = mine.acquire("a_b", {.ttl = long_ttl});
    auto plain = mine.acquire("axb", {.ttl = long_ttl});
    require(names_of(mine.list("*")) == std::vector<std::string>{"*"},
            "`*` is taken for a pattern");
    require(names_of(mine.list("a_")) == std::vector<std::string>{"a_b"},
            "`_` is taken for a pattern");
    require(mine.list("%").empty(), "`%` is taken for a pattern");
    require(mine.list("[a]").empty(), "`[a]` is taken for a pattern");
}

// Or what it promises would not be asked for.
void its_promises_are_the_fixtures(fixture& of) {
    const world here = of.fresh();
    boost::asio::io_context loop;
    backend_context context;
    context.strand = loop.get_executor();
    context.time = &real_runtime();
    require(here.where.open(std::move(context))->promised() == of.promised(),
            "the backend promises something else than its fixture says");
}

void examine_says_what_it_is_worth(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    const examination found = locks.examine();
    require(!found.guarantees.backend.empty(), "the guarantee row names no backend");
    require(!found.guarantees.holder_crash.empty() && !found.guarantees.token.empty(),
            "the guarantee row is incomplete");
    for (const finding& each : found.findings)
        require(!each.topic.empty() && !each.fact.empty(), "a finding without a topic or a fact");
}

bool with_named_processes(const promises& promised) {
    return promised.names_holders && promised.across_processes;
}

constexpr promise list[] = {
    {"inspect_tells_the_truth", everybody, inspect_tells_the_truth},
    {"inspect_names_the_holder", with_named_holders, inspect_names_the_holder},
    {"inspect_changes_nothing", everybody, inspect_changes_nothing},
    {"inspect_sees_other_processes", with_processes, inspect_sees_other_processes},
    {"inspect_names_other_processes", with_named_processes, inspect_names_other_processes},
    {"list_shows_what_is_held", everybody, list_shows_what_is_held},
    {"list_takes_the_prefix_literally", everybody, list_takes_the_prefix_literally},
    {"its_promises_are_the_fixtures", everybody, its_promises_are_the_fixtures},
    {"examine_says_what_it_is_worth", everybody, examine_says_what_it_is_worth},
};

}  // namespace

std::span<const promise> looking_promises() noexcept { return list; }

}  // namespace pawl::conformance
