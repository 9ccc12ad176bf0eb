#include "process.hpp"

#include "journal.hpp"

#include <pawl/blocking.hpp>
#include <pawl/striped.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <utility>
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

// Notes that the lock, or all of several, was believed to be ours, if it was; and when.
template <class Lock>
bool believe(const Lock& lock, const desk& here, const std::string& key) {
    const auto at = boot_clock::now();
    const auto until = lock.safe_until();
    if (lock.state() == lock_state::lost || at >= until) return false;
    here.book.write("at " + key + " " + std::to_string(to_instant(at)) + " " +
                    std::to_string(to_instant(until)));
    return true;
}

// Looks, works, writes. However long it took from the look to the write, the resource may refuse
// only who has lost the lock: a belief after a refusal is one that overlaps with another's.
template <class Lock>
bool work(const Lock& lock, pawl::fencing_token token, const desk& here, const std::string& key) {
    if (!believe(lock, here, key)) return false;
    std::this_thread::sleep_for(1ms);  // work
    if (here.guarded.take(token.value())) return true;
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
        mine = work(lock, lock.token(), here, key);
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

void note_grant(const desk& here, const std::string& key, pawl::fencing_token token,
                support::instant invoked, support::instant deadline) {
    here.book.write("got " + key + " " + to_string(token) + " " + std::to_string(invoked) + " " +
                    std::to_string(to_instant(boot_clock::now())) + " " + std::to_string(deadline));
}

// The files of each stripe, and of nobody else's.
struct stripe_files {
    stripe_files(const orders& what, std::size_t index)
        : book(folder_of_stripe(what.folder, index) + "/" + what.name + ".journal"),
          guarded(folder_of_stripe(what.folder, index)) {}
    journal book;
    resource guarded;
};

// The stripes of two random keys at once, all or none.
void hold_stripes(pawl::blocking::client& locks, std::vector<std::unique_ptr<stripe_files>>& files,
                  const std::string& who, std::minstd_rand& dice) {
    const pawl::striped parts("part", stripes);
    const std::vector<std::string> keys{std::to_string(dice() % 16), std::to_string(dice() % 16)};
    const auto names = parts.names_for(keys);
    const auto invoked = to_instant(boot_clock::now());
    auto all = locks.acquire_all(names, {.ttl = 1s, .wait = 60s});
    const auto deadline = to_instant(all.safe_until());
    std::vector<std::pair<desk, pawl::fencing_token>> held;
    for (std::size_t i = 0; i < stripes; ++i) {
        const auto name = parts.name_of(i);
        if (std::find(names.begin(), names.end(), name) == names.end()) continue;
        held.push_back({{files[i]->book, files[i]->guarded, who}, all.token(name)});
        note_grant(held.back().first, who, all.token(name), invoked, deadline);
    }
    bool ours = true;
    for (int step = 0; step < 3; ++step)
        for (const auto& [here, token] : held)
            ours = ours && work(all, token, here, who);
    for (const auto& [here, token] : held) {
        ours = ours && believe(all, here, who);
        here.book.write("leave " + who);
    }
    const auto released = all.release();
    for (const auto& [here, token] : held)
        if (!ours || released != pawl::release_result::released) here.book.write("late " + who);
}

// Adopts what the last of its kind left; where that is over, begins anew. The value is written down
// before it is used: whoever follows knows it wherever this process is killed.
pawl::blocking::held_lock follow(pawl::blocking::client& locks, const std::string& path,
                                 const std::string& fresh) {
    std::string value;
    std::getline(std::ifstream(path), value);
    if (!value.empty()) {
        if (auto lock = locks.adopt("it", value, {.ttl = 1s})) return lock;
    }
    std::ofstream(path) << fresh << std::flush;
    return locks.acquire_as("it", fresh, {.ttl = 1s, .wait = 60s});
}

}  // namespace

std::string folder_of_stripe(const std::string& folder, std::size_t index) {
    return folder + "/" + std::to_string(index);
}

int run_stripes(const orders& what) {
    pawl::blocking::client locks(pawl::from_url(what.url));
    std::vector<std::unique_ptr<stripe_files>> files;
    for (std::size_t i = 0; i < stripes; ++i)
        files.push_back(std::make_unique<stripe_files>(what, i));
    std::vector<std::jthread> crowd;
    for (int i = 0; i < what.threads; ++i)
        crowd.emplace_back([&, i](const std::stop_token& stop) {
            std::minstd_rand dice(std::random_device{}());
            for (int round = 0; !stop.stop_requested(); ++round) {
                try {
                    hold_stripes(locks, files, std::to_string(i) + "." + std::to_string(round),
                                 dice);
                } catch (const pawl::error& problem) {
                    std::cerr << problem.what() << "\n";
                }
            }
        });
    std::cin.ignore(1);
    return 0;
}

int run_adopter(const orders& what) {
    const journal book(what.folder + "/" + what.name + ".journal");
    const resource guarded(what.folder);
    pawl::blocking::client locks(pawl::from_url(what.url));
    const desk here{book, guarded, what.name};
    // Those with a value of their own compete with the chain.
    const bool in_chain = what.name.starts_with("chain");
    std::random_device chance;
    for (int round = 0;; ++round) {
        const std::string key = std::to_string(round);
        const std::string fresh = what.name + "-" + key + "-" + std::to_string(chance());
        const auto invoked = to_instant(boot_clock::now());
        try {
            auto lock = in_chain ? follow(locks, what.folder + "/value", fresh)
                                 : locks.acquire_as("it", fresh, {.ttl = 1s, .wait = 60s});
            note_grant(here, key, lock.token(), invoked, to_instant(lock.safe_until()));
            bool ours = true;
            // A chain goes on until it is killed.
            for (int step = 0; ours && (in_chain || step < 20); ++step)
                ours = work(lock, lock.token(), here, key);
            here.book.write("leave " + key);
            lock.release();
        } catch (const pawl::error& problem) {
            std::cerr << problem.what() << "\n";
        }
    }
}

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
