#include "lists.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace pawl::conformance {

namespace {

void pass_through(blocking::client& locks, turnstile& gate, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        gate.enter();
        std::this_thread::yield();
        gate.leave();
    }
}

void threads_never_overlap(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    turnstile gate;
    {
        std::vector<std::unique_ptr<aside>> crowd;
        for (int i = 0; i < 8; ++i)
            crowd.push_back(std::make_unique<aside>([&] { pass_through(locks, gate, 25); }));
        for (auto& each : crowd)
            each->get();
    }
    require(!gate.ever_shared(), "two threads of one client held the lock at once");
}

void clients_never_overlap(fixture& of) {
    const world here = of.fresh();
    turnstile gate;
    {
        std::vector<std::unique_ptr<aside>> crowd;
        for (int i = 0; i < 6; ++i)
            crowd.push_back(std::make_unique<aside>([&] {
                blocking::client locks(here.where);
                pass_through(locks, gate, 25);
            }));
        for (auto& each : crowd)
            each->get();
    }
    require(!gate.ever_shared(), "two clients held the lock at once");
}

std::string new_file() {
    std::string path = (std::filesystem::temp_directory_path() / "pawl-count-XXXXXX").string();
    const int opened = ::mkstemp(path.data());
    require(opened >= 0, "cannot make a temporary file");
    ::close(opened);
    return path;
}

void processes_never_overlap(fixture& of) {
    const world here = of.fresh();
    const std::string file = new_file();
    std::ofstream(file) << 0;
    constexpr int processes = 4, times = 40;
    std::vector<std::unique_ptr<agent>> crowd;
    for (int i = 0; i < processes; ++i)
        crowd.push_back(std::make_unique<agent>(here));
    for (auto& each : crowd)
        each->tell("count it 60000 " + file + " " + std::to_string(times));
    for (auto& each : crowd)
        require_equal(each->answer(60s), std::string("counted"), "a counting process");
    long total = 0;
    std::ifstream(file) >> total;
    std::filesystem::remove(file);
    require_equal(total, long{processes} * times, "what four processes counted together");
}

void held_is_busy_for_everybody_else(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "another client got a lock that is held");
    require(!mine.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "the holder's own client got it a second time");
    require_equal(lock.release(), release_result::released, "release");
    require(other.try_acquire("it", {.ttl = long_ttl}).owns_lock(), "a released lock is not free");
}

void another_name_is_another_lock(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto one = mine.acquire("one", {.ttl = long_ttl});
    auto two = other.try_acquire("two", {.ttl = long_ttl});
    require(static_cast<bool>(two), "a lock is busy because one of another name is held");
}

// The first holder's time ends (max_hold), the second one has it, the first one says `release`.
void nobody_releases_anothers_lock(fixture& of) {
    const world here = of.fresh();
    blocking::client first(here.where), second(here.where), third(here.where);
    auto stale = first.acquire("it", {.ttl = 1s, .max_hold = 1s});
    auto current = second.acquire("it", {.ttl = long_ttl, .wait = patience});
    const release_result found = stale.release();
    require(
        found == release_result::expired || found == release_result::taken_over,
        std::string("release of a lock that is somebody else's by now said ") + to_string(found));
    require_equal(current.state(), lock_state::held,
                  "the second holder, after the first one's release");
    require(!third.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "the first holder's release freed the second's");
    require_equal(current.release(), release_result::released, "the second holder's release");
}

constexpr promise list[] = {
    {"threads_never_overlap", everybody, threads_never_overlap},
    {"clients_never_overlap", everybody, clients_never_overlap},
    {"processes_never_overlap", with_processes, processes_never_overlap},
    {"held_is_busy_for_everybody_else", everybody, held_is_busy_for_everybody_else},
    {"another_name_is_another_lock", everybody, another_name_is_another_lock},
    {"nobody_releases_anothers_lock", everybody, nobody_releases_anothers_lock},
};

}  // namespace

std::span<const promise> exclusion_promises() noexcept { return list; }

}  // namespace pawl::conformance
