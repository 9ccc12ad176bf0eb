// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>

#include <unistd.h>

namespace pawl::conformance {

namespace {

void inspect_tells_the_truth(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), observer(env.target, long_tries);
    require(is_free(observer, "it"), "a lock that was never requested is held");
    auto lock = client.acquire("it", {.ttl = 20s, .wait = soon});
    const lock_info info = observer.inspect("it");
    require_equal(info.name, std::string("it"), "the name");
    require(info.held_by.has_value(), "a held lock has no holder");
    require_equal(info.held_by->token, lock.token(), "the holder's token");
    require_equal(info.held_by->count, std::uint64_t{1}, "the hold count");
    require(!service_fixture.capabilities().knows_remaining_time ||
                (info.held_by->remaining > 0s && info.held_by->remaining <= 20s),
            "the remaining time is not within the ttl");
    require(!info.held_by->owner.empty() && info.held_by->owner.size() < 32,
            "the owner is missing, or long enough to release with");
    require_equal(info.waiters, std::uint64_t{0}, "the waiters of a lock without waiters");
    (void)lock.release();
    require(is_free(observer, "it"), "a released lock has a holder");
}

void inspect_names_the_holder(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, {.command = "the teller"}),
        observer(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = 20s, .wait = soon});
    const lock_info info = observer.inspect("it");
    require(info.held_by.has_value(), "a held lock has no holder");
    require_equal(info.held_by->command, std::string("the teller"), "the holder's command");
    require_equal(info.held_by->pid, std::int64_t{::getpid()}, "the holder's pid");
    require(!info.held_by->host.empty(), "the holder has no host");
    const auto age = std::chrono::system_clock::now() - info.held_by->since;
    require(age > -5s && age < 60s, "the lock is held since a time that is not about now");
    for (const lock_info& each : observer.list())
        require(each.held_by && each.held_by->pid == ::getpid(),
                "a listed lock has the wrong holder");
}

void inspect_changes_nothing(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), observer(env.target, long_tries);
    for (int i = 0; i < 5; ++i)
        (void)observer.inspect("it");
    require(nothing_is_listed(service_fixture, observer), "inspecting a lock made one");
    auto lock = client.try_acquire("it", {.ttl = long_ttl});
    require(static_cast<bool>(lock), "inspecting a lock excludes others");
}

void inspect_sees_other_processes(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client observer(env.target, long_tries);
    agent holder(env);
    const fencing_token token = holder.acquire("it", long_ttl);
    const lock_info info = observer.inspect("it");
    require(info.held_by.has_value(), "a lock held by another process has no holder");
    require_equal(info.held_by->token, token, "the holder's token");
}

void inspect_names_other_processes(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client observer(env.target, long_tries);
    agent holder(env);
    (void)holder.acquire("it", long_ttl);
    const lock_info info = observer.inspect("it");
    require(info.held_by.has_value(), "a lock held by another process has no holder");
    require_equal(info.held_by->pid, std::int64_t{holder.process().pid()}, "the holder's pid");
    require_equal(info.held_by->command, std::string("conformance agent"), "the holder's command");
}

std::vector<std::string> names_of(const std::vector<lock_info>& locks) {
    std::vector<std::string> result;
    for (const lock_info& each : locks)
        result.push_back(each.name);
    std::sort(result.begin(), result.end());
    return result;
}

void list_shows_what_is_held(fixture& service_fixture) {
    if (!service_fixture.lists_locks()) return;
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), observer(env.target, long_tries);
    require(observer.list().empty(), "a new service has locks");
    auto first_lock = client.acquire("shop/one", {.ttl = long_ttl});
    auto two = client.acquire("shop/two", {.ttl = long_ttl});
    auto far = client.acquire("farm", {.ttl = long_ttl});
    auto released = client.acquire("shop/gone", {.ttl = long_ttl});
    (void)released.release();
    require(names_of(observer.list("shop/")) == std::vector<std::string>{"shop/one", "shop/two"},
            "list(\"shop/\") does not show the two held locks of that prefix");
    require(names_of(observer.list()) == std::vector<std::string>{"farm", "shop/one", "shop/two"},
            "list() does not show the three held locks");
    require(observer.list("nothing").empty(), "list of a prefix that no lock has is not empty");
    for (const lock_info& each : observer.list())
        require(each.held_by.has_value(), "a listed lock has no holder");
}

void list_takes_the_prefix_literally(fixture& service_fixture) {
    if (!service_fixture.lists_locks()) return;
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries);
    auto star = client.acquire("*", {.ttl = long_ttl});
    auto under = client.acquire("a_b", {.ttl = long_ttl});
    auto plain = client.acquire("axb", {.ttl = long_ttl});
    require(names_of(client.list("*")) == std::vector<std::string>{"*"},
            "`*` is treated as a pattern");
    require(names_of(client.list("a_")) == std::vector<std::string>{"a_b"},
            "`_` is treated as a pattern");
    require(client.list("%").empty(), "`%` is treated as a pattern");
    require(client.list("[a]").empty(), "`[a]` is treated as a pattern");
}

// Otherwise the tests of a capability would not be selected.
void its_capabilities_are_the_fixtures(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    boost::asio::io_context loop;
    spi::backend_context context;
    context.strand = loop.get_executor();
    context.time = &spi::real_runtime();
    require(env.target.open(std::move(context))->capabilities() == service_fixture.capabilities(),
            "the backend's capabilities are not those of its fixture");
}

void examine_reports_the_guarantees(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const examination report = locks.examine();
    require(!report.guarantees.backend.empty(), "the guarantee row names no backend");
    require(!report.guarantees.holder_crash.empty() && !report.guarantees.token.empty(),
            "the guarantee row is incomplete");
    for (const finding& each : report.findings) {
        require(!each.topic.empty() && !each.fact.empty(), "a finding without a topic or a fact");
        const auto is_its_node = [&](const examined_node& node) { return node.name == each.node; };
        require(each.node.empty() || std::ranges::any_of(report.nodes, is_its_node),
                "a finding about a node that is not listed");
    }
}

bool with_named_processes(const capabilities& supported) {
    return supported.names_holders && supported.across_processes;
}

constexpr test_case list[] = {
    {"inspect_tells_the_truth", every_backend, inspect_tells_the_truth},
    {"inspect_names_the_holder", with_named_holders, inspect_names_the_holder},
    {"inspect_changes_nothing", every_backend, inspect_changes_nothing},
    {"inspect_sees_other_processes", with_processes, inspect_sees_other_processes},
    {"inspect_names_other_processes", with_named_processes, inspect_names_other_processes},
    {"list_shows_what_is_held", every_backend, list_shows_what_is_held},
    {"list_takes_the_prefix_literally", every_backend, list_takes_the_prefix_literally},
    {"its_capabilities_are_the_fixtures", every_backend, its_capabilities_are_the_fixtures},
    {"examine_reports_the_guarantees", every_backend, examine_reports_the_guarantees},
};

}  // namespace

std::span<const test_case> inspection_tests() noexcept { return list; }

}  // namespace pawl::conformance
