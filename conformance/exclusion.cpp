// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace pawl::conformance {

namespace {

void pass_through(blocking::client& locks, overlap_detector& gate, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
        gate.enter();
        std::this_thread::yield();
        gate.leave();
    }
}

void threads_never_overlap(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    overlap_detector gate;
    {
        std::vector<std::unique_ptr<background_task>> crowd;
        for (int i = 0; i < 8; ++i)
            crowd.push_back(
                std::make_unique<background_task>([&] { pass_through(locks, gate, 25); }));
        for (auto& each : crowd)
            each->get();
    }
    require(!gate.has_overlapped(), "two threads of one client held the lock at once");
}

void clients_never_overlap(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    overlap_detector gate;
    {
        std::vector<std::unique_ptr<background_task>> crowd;
        for (int i = 0; i < 6; ++i)
            crowd.push_back(std::make_unique<background_task>([&] {
                blocking::client locks(env.target, long_tries);
                pass_through(locks, gate, 25);
            }));
        for (auto& each : crowd)
            each->get();
    }
    require(!gate.has_overlapped(), "two clients held the lock at once");
}

std::string new_file() {
    std::string path = (std::filesystem::temp_directory_path() / "pawl-count-XXXXXX").string();
    const int opened = ::mkstemp(path.data());
    require(opened >= 0, "cannot make a temporary file");
    ::close(opened);
    return path;
}

void processes_never_overlap(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    const std::string file = new_file();
    std::ofstream(file) << 0;
    constexpr int processes = 4, times = 40;
    std::vector<std::unique_ptr<agent>> crowd;
    for (int i = 0; i < processes; ++i)
        crowd.push_back(std::make_unique<agent>(env));
    for (auto& each : crowd)
        each->send("count it 60000 " + file + " " + std::to_string(times));
    for (auto& each : crowd)
        require_equal(each->read_reply(60s), std::string("counted"), "a counting process");
    long total = 0;
    std::ifstream(file) >> total;
    std::filesystem::remove(file);
    require_equal(total, long{processes} * times, "the sum of four processes");
}

void held_is_busy_for_everybody_else(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "another client got a lock that is held");
    require(!client.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "the holder's own client acquired it a second time");
    require_equal(lock.release(), release_result::released, "release");
    require(other.try_acquire("it", {.ttl = long_ttl}).owns_lock(), "a released lock is not free");
}

void another_name_is_another_lock(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto first_lock = client.acquire("one", {.ttl = long_ttl});
    auto two = other.try_acquire("two", {.ttl = long_ttl});
    require(static_cast<bool>(two), "a lock is busy because another name is held");
}

// The first holder's max_hold ends, the second client holds the lock, and the first one calls
// `release`.
void nobody_releases_anothers_lock(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 1s);
    const test_service env = service_fixture.make_test_service();
    blocking::client first(env.target, long_tries), second(env.target, long_tries),
        third(env.target, long_tries);
    auto stale = first.acquire("it", {.ttl = ttl, .max_hold = 1s});
    auto current = second.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    const release_result result = stale.release();
    require(result == release_result::expired || result == release_result::taken_over,
            std::string("release of a lock that another client holds by now returned ") +
                to_string(result));
    require_equal(current.state(), lock_state::held,
                  "the second holder, after the first one's release");
    require(!third.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "the first holder's release released the second's lock");
    require_equal(current.release(), release_result::released, "the second holder's release");
}

constexpr test_case list[] = {
    {"threads_never_overlap", every_backend, threads_never_overlap},
    {"clients_never_overlap", every_backend, clients_never_overlap},
    {"processes_never_overlap", with_processes, processes_never_overlap},
    {"held_is_busy_for_everybody_else", every_backend, held_is_busy_for_everybody_else},
    {"another_name_is_another_lock", every_backend, another_name_is_another_lock},
    {"nobody_releases_anothers_lock", every_backend, nobody_releases_anothers_lock},
};

}  // namespace

std::span<const test_case> exclusion_tests() noexcept { return list; }

}  // namespace pawl::conformance
