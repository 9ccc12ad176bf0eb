// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_support.hpp"

#include <memory>
#include <mutex>
#include <sstream>

namespace pawl::conformance {

duration supported_ttl(const fixture& service_fixture, duration wanted) {
    const auto& capabilities = service_fixture.capabilities();
    const auto unit = capabilities.ttl_granularity;
    return std::max<duration>((wanted + unit - 1ns) / unit * unit, capabilities.least_ttl);
}

duration takeover_time(const fixture& service_fixture, duration ttl) {
    return service_fixture.capabilities().takeover_bound(ttl) + 2s;
}

void with_a_lasting_lease(const fixture& service_fixture, duration wanted,
                          const std::function<bool(duration ttl)>& test,
                          const std::string& sentence) {
    for (const int factor : {1, 6})
        if (test(supported_ttl(service_fixture, factor * wanted))) return;
    require(false, sentence);
}

std::string milliseconds_text(duration length) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(length).count());
}

void require(bool holds, const std::string& sentence) {
    if (!holds) throw failure(sentence);
}

std::string to_text(lock_state value) { return to_string(value); }

std::string to_text(loss_reason value) { return to_string(value); }

std::string to_text(release_result value) { return to_string(value); }

std::string to_text(errc value) { return make_error_code(value).message(); }

std::string to_text(bool value) { return value ? "yes" : "no"; }

std::string to_text(fencing_token value) { return to_string(value); }

std::string to_text(const std::string& value) { return '"' + value + '"'; }

std::string to_text(const std::optional<errc>& value) {
    return value ? to_text(*value) : "no error";
}

bool eventually(const std::function<bool()>& effect, duration bound) {
    const time_point give_up_at = boot_clock::now() + bound;
    while (!effect()) {
        if (boot_clock::now() >= give_up_at) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

std::optional<errc> failure_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const error& failure) {
        return failure.reason();
    }
    return std::nullopt;
}

std::uint64_t waiters_of(blocking::client& observer, const std::string& name) {
    return observer.inspect(name).waiters;
}

bool has_waiters(blocking::client& observer, const std::string& name, std::uint64_t count) {
    return eventually([&] { return waiters_of(observer, name) == count; });
}

bool has_waiters(const fixture& service_fixture, blocking::client& observer,
                 const std::string& name, std::uint64_t count) {
    if (!service_fixture.shows_waiters()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return true;
    }
    return has_waiters(observer, name, count);
}

bool nothing_is_listed(const fixture& service_fixture, blocking::client& observer,
                       const std::string& prefix) {
    return !service_fixture.lists_locks() || observer.list(prefix).empty();
}

void release_in_time(blocking::held_lock hold, const std::string& checked) {
    const auto safe_until = hold.safe_until();
    const auto result = hold.release();
    if (boot_clock::now() < safe_until) require_equal(result, release_result::released, checked);
}

bool is_free(blocking::client& observer, const std::string& name) {
    return !observer.inspect(name).held_by;
}

agent::agent(const test_service& env) : process_(launch_as_helper({"agent", env.url})) {
    require_equal(read_reply(), std::string("ready"), "the first line of a helper process");
}

std::string agent::read_reply(duration bound) {
    auto line = process_.read_line(std::chrono::ceil<std::chrono::milliseconds>(bound));
    require(line.has_value(), "a helper process sent no reply in time");
    return *line;
}

std::string agent::request(const std::string& command, duration bound) {
    send(command);
    return read_reply(bound);
}

fencing_token agent::acquire(const std::string& name, duration ttl, duration bound) {
    return token_in(request("acquire " + name + " " + milliseconds_text(ttl) + " forever", bound));
}

fencing_token token_in(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::uint64_t token = 0;
    words >> verb >> token;
    require(verb == "held", "a helper process replied \"" + line + "\" instead of \"held …\"");
    return fencing_token(token);
}

background_task::background_task(std::function<void()> work)
    : thread_([this, work = std::move(work)] {
          try {
              work();
          } catch (...) {
              thrown_ = std::current_exception();
          }
          is_done_ = true;
      }) {}

void background_task::get_soon(const std::string& checked) {
    require(eventually([this] { return is_done_.load(); }), checked + " took too long");
    get();
}

void background_task::get() {
    if (thread_.joinable()) thread_.join();
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void overlap_detector::enter() {
    if (inside_count_.fetch_add(1) != 0) overlapped_ = true;
}

void overlap_detector::leave() { inside_count_.fetch_sub(1); }

void require_order_of_arrival(const test_service& env, std::size_t clients, std::size_t waiters,
                              lock_options options) {
    std::vector<std::unique_ptr<blocking::client>> lock_clients;
    for (std::size_t i = 0; i < clients; ++i)
        lock_clients.push_back(std::make_unique<blocking::client>(env.target, long_tries));
    auto first_hold = lock_clients[0]->acquire("it", options);
    std::mutex order_mutex;
    std::vector<std::size_t> order, expected;
    std::vector<std::unique_ptr<background_task>> waiting_tasks;
    for (std::size_t i = 0; i < waiters; ++i) {
        expected.push_back(i);
        waiting_tasks.push_back(std::make_unique<background_task>([&, i] {
            auto lock_held = lock_clients[(i + 1) % clients]->acquire("it", options);
            const std::scoped_lock order_lock(order_mutex);
            order.push_back(i);
        }));
        require(has_waiters(*lock_clients[0], "it", i + 1), "a waiter is not seen");
    }
    require_equal(first_hold.release(), release_result::released, "release");
    for (auto& each : waiting_tasks)
        each->get();
    require(order == expected, "the waiters were not served in their order");
}

}  // namespace pawl::conformance
