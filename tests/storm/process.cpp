#include "process.hpp"

#include "journal.hpp"

#include <pawl/blocking.hpp>

#include <iostream>
#include <random>
#include <thread>
#include <vector>

namespace storm {

namespace {

using namespace std::chrono_literals;
using pawl::boot_clock;
using pawl::lock_state;

support::instant to_instant(pawl::time_point when) { return when.time_since_epoch().count(); }

// Two files and the name of this thread.
struct desk {
    const journal& book;
    const resource& guarded;
    std::string who;
};

// Notes that the lock was believed to be ours, if it was; and when.
bool believe(const pawl::blocking::held_lock& lock, const desk& here, const std::string& key) {
    const auto at = boot_clock::now();
    const auto until = lock.safe_until();
    if (lock.state() == lock_state::lost || at >= until) return false;
    here.book.write("at " + key + " " + std::to_string(to_instant(at)) + " " +
                    std::to_string(to_instant(until)));
    return true;
}

// Looks, works, writes. However long it took from the look to the write, the resource may refuse
// only who has lost the lock: a belief after a refusal is one that overlaps with another's.
bool work(const pawl::blocking::held_lock& lock, const desk& here, const std::string& key) {
    if (!believe(lock, here, key)) return false;
    std::this_thread::sleep_for(1ms);  // work
    if (here.guarded.take(lock.token().value())) return true;
    here.book.write("refused " + key);
    return believe(lock, here, key);
}

void hold_once(pawl::blocking::client& locks, const desk& here, const std::string& key, int steps) {
    const auto invoked = to_instant(boot_clock::now());
    auto lock = locks.acquire("it", {.ttl = 1s, .wait = 60s});
    const auto deadline = to_instant(lock.safe_until());
    here.book.write("got " + key + " " + to_string(lock.token()) + " " + std::to_string(invoked) +
                    " " + std::to_string(to_instant(boot_clock::now())) + " " +
                    std::to_string(deadline));
    bool mine = true;
    for (int i = 0; i < steps && mine; ++i)
        mine = work(lock, here, key);
    mine = mine && believe(lock, here, key);
    here.book.write("leave " + key);
    const auto found = lock.release();
    if (!mine || found != pawl::release_result::released) here.book.write("late " + key);
}

void want_it_for_ever(pawl::blocking::client& locks, const desk& here,
                      const std::stop_token& stop) {
    std::minstd_rand dice(std::random_device{}());
    for (int round = 0; !stop.stop_requested(); ++round) {
        try {
            hold_once(locks, here, here.who + "." + std::to_string(round),
                      std::uniform_int_distribution<int>(1, 6)(dice));
        } catch (const pawl::error& what) {
            std::cerr << what.what() << "\n";
        }
    }
}

}  // namespace

int run_process(const orders& what) {
    const journal book(what.folder + "/" + what.name + ".journal");
    const resource guarded(what.folder);
    pawl::blocking::client locks(pawl::from_url(what.url));
    std::vector<std::jthread> crowd;
    for (int i = 0; i < what.threads; ++i)
        crowd.emplace_back([&, i](const std::stop_token& stop) {
            want_it_for_ever(locks, {book, guarded, std::to_string(i)}, stop);
        });
    std::cin.ignore(1);
    return 0;
}

int wait_for_each(const std::string& url, int names) {
    pawl::blocking::client locks(pawl::from_url(url));
    std::vector<pawl::blocking::held_lock> kept(static_cast<std::size_t>(names));
    std::vector<std::jthread> crowd;
    for (int i = 0; i < names; ++i)
        crowd.emplace_back([&, i](const std::stop_token& stop) {
            try {
                kept[static_cast<std::size_t>(i)] =
                    locks.acquire("lock" + std::to_string(i), {}, stop);
            } catch (const pawl::error& what) {
                if (!stop.stop_requested()) std::cerr << what.what() << "\n";
            }
        });
    std::cin.ignore(1);
    return 0;
}

}  // namespace storm
