// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <algorithm>

namespace pawl::conformance {

namespace {

std::vector<std::string> odd_names(const fixture& service_fixture) {
    std::vector<std::string> names{"a",
                                   "ab",
                                   "a:",
                                   "a:b",
                                   "A",
                                   "a b",
                                   " a",
                                   "a ",
                                   "{a}",
                                   "{name}",
                                   "a{b}c",
                                   "}a{",
                                   "{}",
                                   "%41",
                                   "a%00",
                                   "%",
                                   "a%",
                                   "a_b",
                                   "a*",
                                   "*",
                                   "a?c",
                                   "[a]",
                                   "a\\b",
                                   "'a'",
                                   "a\"b",
                                   "a;b--",
                                   "a/b",
                                   "../a",
                                   "/",
                                   "ä",
                                   "日本",
                                   "\xF0\x9F\x94\x92",
                                   "\xFF\xFE",
                                   "a\xC3",
                                   "-",
                                   "--help",
                                   "a=b&c=d#e",
                                   "a,b",
                                   "0",
                                   "00",
                                   std::string(512, 'x'),
                                   std::string(511, 'x'),
                                   std::string(511, 'x') + "y"};
    std::erase_if(names, [&](const auto& each) { return !service_fixture.accepts_name(each); });
    return names;
}

void odd_names_do_not_collide(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    std::vector<blocking::held_lock> held;
    for (const std::string& name : odd_names(service_fixture)) {
        auto lock = client.try_acquire(name, {.ttl = long_ttl});
        require(static_cast<bool>(lock),
                "the free name \"" + name + "\" is busy: it collides with another");
        require_equal(std::string(lock.name()), name, "the name of its handle");
        held.push_back(std::move(lock));
    }
    for (const std::string& name : odd_names(service_fixture))
        require(!other.try_acquire(name, {.ttl = long_ttl}).owns_lock(),
                "the held name \"" + name + "\" is free");
    for (auto& lock : held)
        require_equal(lock.release(), release_result::released,
                      "release of " + std::string(lock.name()));
    for (const std::string& name : odd_names(service_fixture))
        require(is_free(other, name), "the released name \"" + name + "\" is held");
}

void odd_names_are_listed_as_they_are(fixture& service_fixture) {
    if (!service_fixture.lists_locks()) return;
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries);
    std::vector<blocking::held_lock> held;
    std::vector<std::string> wanted = odd_names(service_fixture), listed;
    for (const std::string& name : wanted)
        held.push_back(client.acquire(name, {.ttl = long_ttl, .wait = soon}));
    for (const lock_info& each : client.list())
        listed.push_back(each.name);
    std::sort(wanted.begin(), wanted.end());
    std::sort(listed.begin(), listed.end());
    require_equal(listed.size(), wanted.size(), "how many locks `list` shows");
    for (std::size_t i = 0; i < wanted.size(); ++i)
        require_equal(listed[i], wanted[i], "a name that `list` shows");
}

void odd_names_can_be_waited_for(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    for (const std::string& name : odd_names(service_fixture)) {
        auto lock = client.acquire(name, {.ttl = long_ttl, .wait = soon});
        std::atomic<bool> acquired = false;
        background_task waiting([&] {
            auto next = other.acquire(name, {.ttl = long_ttl, .wait = wait_bound});
            acquired = true;
        });
        require(has_waiters(service_fixture, client, name, 1),
                "a waiter for \"" + name + "\" is not seen");
        (void)lock.release();
        require(eventually([&] { return acquired.load(); }),
                "no waiter was woken for \"" + name + "\"");
        waiting.get();
    }
}

void bad_names_are_refused(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    std::vector<std::string> bad{"",     std::string(513, 'x'),  "a\nb", "a\rb",
                                 "a\tb", std::string("a\0b", 3), "\x01", "a\x1f",
                                 "\x7f"};
    for (const std::string& each : {std::string(512, 'x'), std::string("\xFF")})
        if (!service_fixture.accepts_name(each)) bad.push_back(each);
    for (const std::string& name : bad) {
        require_equal(failure_of([&] { (void)locks.try_acquire(name); }), errc::bad_name,
                      "try_acquire of a bad name of " + std::to_string(name.size()) + " bytes");
        require_equal(failure_of([&] { (void)locks.acquire(name, {.wait = 0s}); }), errc::bad_name,
                      "acquire of a bad name of " + std::to_string(name.size()) + " bytes");
        require_equal(failure_of([&] { (void)locks.inspect(name); }), errc::bad_name,
                      "inspect of a bad name of " + std::to_string(name.size()) + " bytes");
        require_equal(failure_of([&] { (void)locks.force_release(name); }), errc::bad_name,
                      "force_release of a bad name of " + std::to_string(name.size()) + " bytes");
    }
    require(nothing_is_listed(service_fixture, locks), "a bad name left a lock");
}

void bad_options_are_refused(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const auto& capabilities = service_fixture.capabilities();
    const lock_options bad[] = {
        {.ttl = 0s},
        {.ttl = -1s},
        {.ttl = capabilities.least_ttl - 1ms},
        {.ttl = capabilities.most_ttl + 1h},
        {.ttl = forever},
        {.wait = -1ms},
        {.max_hold = 0s},
        {.max_hold = -1s},
    };
    for (const lock_options& each : bad) {
        const auto why = failure_of([&] { (void)locks.acquire("it", each); });
        require_equal(why, errc::bad_option,
                      "acquire with ttl " + std::to_string(each.ttl.count()) + " ns, wait " +
                          std::to_string(each.wait.count()) + " ns, max_hold " +
                          std::to_string(each.max_hold.count()) + " ns");
    }
    require_equal(failure_of([&] { (void)locks.try_acquire("it", {.ttl = 0s}); }), errc::bad_option,
                  "try_acquire with a ttl of 0");
    const auto modeless =
        failure_of([&] { (void)locks.acquire("it", {.permits = 2, .total_permits = 3}); });
    require_equal(modeless, errc::bad_option, "permits without their mode");
    require(is_free(locks, "it"), "bad options left a lock");
}

void good_limits_are_accepted(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const auto& capabilities = service_fixture.capabilities();
    const auto brief = locks.acquire("short", {.ttl = capabilities.least_ttl, .wait = soon});
    require(static_cast<bool>(brief), "the least ttl");
    const auto lasting = locks.acquire("long", {.ttl = capabilities.most_ttl, .wait = soon});
    require(lasting.owns_lock(), "the longest ttl");
    const auto limited = locks.acquire("limited", {.ttl = long_ttl, .max_hold = 10ms});
    require(static_cast<bool>(limited), "a max_hold below the least ttl");
}

// A hold never ends earlier than its caller requested.
void a_ttl_between_two_units_is_rounded_up(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const auto unit = service_fixture.capabilities().ttl_granularity;
    const duration ttl = supported_ttl(service_fixture, soon) + unit / 2;
    const auto begun = boot_clock::now();
    auto lock = locks.acquire("it", {.ttl = ttl, .wait = soon});
    require(lock.safe_until() >= begun + ttl - drift(ttl + unit), "the hold is shorter");
    lock.renew();
    require(lock.safe_until() >= begun + ttl - drift(ttl + unit), "the renewed hold is shorter");
}

constexpr test_case list[] = {
    {"odd_names_do_not_collide", every_backend, odd_names_do_not_collide},
    {"odd_names_are_listed_as_they_are", every_backend, odd_names_are_listed_as_they_are},
    {"odd_names_can_be_waited_for", every_backend, odd_names_can_be_waited_for},
    {"bad_names_are_refused", every_backend, bad_names_are_refused},
    {"bad_options_are_refused", every_backend, bad_options_are_refused},
    {"good_limits_are_accepted", every_backend, good_limits_are_accepted},
    {"a_ttl_between_two_units_is_rounded_up", every_backend, a_ttl_between_two_units_is_rounded_up},
};

}  // namespace

std::span<const test_case> name_tests() noexcept { return list; }

}  // namespace pawl::conformance
