// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "peer.hpp"

#include "latch_peer.hpp"
#include "storm.hpp"

#include <pawl/blocking/mutex.hpp>
#include <pawl/blocking/shared_mutex.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stop_token>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace std::chrono_literals;

namespace interop {
namespace {

std::int64_t now() { return pawl::boot_clock::now().time_since_epoch().count(); }

// Redlock has only the plain locks.
std::string url_of_object(const std::string& url, const std::string& object) {
    return url.starts_with("redlock") ? url : url + "&object=" + object;
}

// A recursive mutex, or the readers' side of a shared one.
class tested_mutex {
public:
    tested_mutex(pawl::blocking::client& locks, const std::string& name,
                 const pawl::lock_options& options) {
        const pawl::lease_options lease{
            .ttl = options.ttl, .fenced = options.fenced, .fair = options.fair};
        if (options.mode == pawl::lock_mode::shared)
            readers_.emplace(locks, name, lease);
        else
            exclusive_.emplace(locks, name, lease);
    }
    void lock() { readers_ ? readers_->lock_shared() : exclusive_->lock(); }
    bool try_lock() { return readers_ ? readers_->try_lock_shared() : exclusive_->try_lock(); }
    void unlock() { readers_ ? readers_->unlock_shared() : exclusive_->unlock(); }
    [[nodiscard]] pawl::fencing_token token() const {
        return readers_ ? readers_->token() : exclusive_->token();
    }
    [[nodiscard]] std::stop_token lost() const {
        return readers_ ? readers_->lost() : exclusive_->lost();
    }

private:
    std::optional<pawl::blocking::shared_mutex> readers_;
    std::optional<pawl::blocking::recursive_mutex> exclusive_;
};

class peer {
public:
    peer(const std::string& url, pawl::duration ttl)
        : url_(url),
          locks_(pawl::from_url(url)),
          read_write_(pawl::from_url(url_of_object(url, "readwrite"))),
          leaseless_(pawl::from_url(url_of_object(url, "semaphore"))),
          ttl_(ttl) {}

    std::string execute_command(const std::string& line);

private:
    // The prefix of the name selects the object: see mixed_processes.hpp.
    struct object {
        pawl::blocking::client& client;
        std::string name;
        pawl::lock_options options;
    };
    object object_of(const std::string& name, int count = 1);
    tested_mutex& mutex_of(const std::string& name) {
        auto& entry = mutexes_[name];
        const auto target = object_of(name);
        if (!entry)
            entry = std::make_unique<tested_mutex>(target.client, target.name, target.options);
        return *entry;
    }
    std::string lock(const std::string& name, int count);
    std::string unlock(const std::string& name);
    std::string inspect(const std::string& name);
    std::string contend(std::istream& arguments);
    std::string execute_storm_command(const std::string& verb, const std::string& journal,
                                      std::istream& arguments);
    // A lock that all processes want, and its gate.
    struct contended_name {
        std::string name;
        gate* shared;
    };
    std::string contend_in_thread(const std::vector<contended_name>& names, int times);

    const std::string url_;
    std::unique_ptr<storm_worker> storm_;
    pawl::blocking::client locks_, read_write_, leaseless_;  // leaseless_: for RSemaphore
    const pawl::duration ttl_;
    std::map<std::string, std::unique_ptr<tested_mutex>> mutexes_;
    std::map<std::string, pawl::blocking::held_lock> other_holds_;  // permits, and downgraded holds
};

bool is_counted(const std::string& name) {
    return name.starts_with("permits") || name.starts_with("semaphore");
}

peer::object peer::object_of(const std::string& name, int count) {
    pawl::lock_options options{.ttl = ttl_, .fenced = name.starts_with("fenced")};
    if (name.starts_with("write:")) return {read_write_, name.substr(6), options};
    if (name.starts_with("read:")) {
        options.mode = pawl::lock_mode::shared;
        return {read_write_, name.substr(5), options};
    }
    if (is_counted(name)) {
        options.mode = pawl::lock_mode::permits;
        options.permits = static_cast<std::uint32_t>(count);
        options.total_permits = permits;
        return {name.starts_with("permits") ? locks_ : leaseless_, name, options};
    }
    options.fair = name.starts_with("fair");
    return {locks_, name, options};
}

std::string peer::lock(const std::string& name, int count) {
    if (is_counted(name)) {
        const auto target = object_of(name, count);
        other_holds_[name] = target.client.acquire(target.name, target.options);
        return "held 0 " + std::to_string(now());
    }
    mutex_of(name).lock();
    const auto when = now();
    return "held " + to_string(mutex_of(name).token()) + " " + std::to_string(when);
}

std::string peer::unlock(const std::string& name) {
    const auto before = now();
    if (is_counted(name))
        (void)other_holds_.at(name).release();
    else
        mutex_of(name).unlock();
    return "unlocked " + std::to_string(before);
}

std::string peer::inspect(const std::string& name) {
    const auto info = locks_.inspect(object_of(name).name);
    std::ostringstream out;
    if (is_counted(name)) {
        auto free = info.permits - (info.held_by ? info.held_by->permits : 0);
        for (const auto& other : info.others)
            free -= other.permits;
        out << "seen " << free << ' ' << info.permits;
        return out.str();
    }
    const auto mode =
        name.starts_with("read:") ? pawl::lock_mode::shared : pawl::lock_mode::exclusive;
    const bool held = info.held_by && info.held_by->mode == mode;
    out << "seen " << (held ? "true" : "false") << ' '
        << (held ? info.held_by->remaining / 1ms : -2) << ' ' << (held ? info.held_by->count : 0)
        << ' ' << (info.held_by ? 1 + info.others.size() : 0);
    return out.str();
}

// One thread's acquisitions of the names in turn, as lines: INDEX TOKEN INVOKED RETURNED ENDED.
std::string peer::contend_in_thread(const std::vector<contended_name>& names, int times) {
    std::ostringstream out;
    for (int i = 0; i < times; ++i) {
        const auto index = static_cast<std::size_t>(i) % names.size();
        const int turn = i / static_cast<int>(names.size());
        const auto& [name, shared] = names[index];
        const bool both = name.starts_with("rw");
        const bool reads = both && turn % 4 != 0;
        const int count = is_counted(name) ? 1 + turn % 2 : 1;
        const auto target =
            object_of(both ? (reads ? "read:" + name : "write:" + name) : name, count);
        const auto invoked = now();
        pawl::blocking::held_lock lock;
        if (turn % 3 == 0)
            lock = target.client.try_acquire(target.name,
                                             {.ttl = ttl_,
                                              .mode = target.options.mode,
                                              .fenced = target.options.fenced,
                                              .permits = target.options.permits,
                                              .total_permits = target.options.total_permits});
        if (!lock) lock = target.client.acquire(target.name, target.options);
        const auto returned = now();
        if (reads)
            shared->read();
        else
            shared->pass(count, is_counted(name) ? permits : 1);
        const auto ended = now();
        if (lock.release() != pawl::release_result::released) return "failed: a release";
        out << index << ' ' << lock.token() << ' ' << invoked << ' ' << returned << ' ' << ended
            << '\n';
    }
    return out.str();
}

std::string peer::contend(std::istream& arguments) {
    std::string list, log, file;
    std::size_t threads = 0;
    int times = 0;
    arguments >> list >> threads >> times >> log >> file;
    std::vector<contended_name> names;
    std::istringstream words(list);
    for (std::string name; std::getline(words, name, ',');)
        names.push_back({name, &gate::at(file, names.size())});
    std::vector<std::string> written(threads);
    {
        std::vector<std::jthread> contenders;
        for (auto& records : written)
            contenders.emplace_back([&] { records = contend_in_thread(names, times); });
    }
    std::ofstream out(log);
    for (const auto& records : written) {
        if (records.starts_with("failed")) return records;
        out << records;
    }
    return "done";
}

std::string peer::execute_storm_command(const std::string& verb, const std::string& journal,
                                        std::istream& arguments) {
    if (verb == "calm") {
        storm_->finish();
        return "calm";
    }
    std::string mode;
    arguments >> mode;
    storm_ = make_storm_worker(mode, url_, ttl_ / 1ms, journal);
    return "storming -";
}

std::string peer::execute_command(const std::string& line) {
    std::istringstream arguments(line);
    std::string verb, name;
    arguments >> verb;
    if (verb == "contend") return contend(arguments);
    arguments >> name;
    if (verb == "storm" || verb == "calm") return execute_storm_command(verb, name, arguments);
    if (auto reply = execute_latch_command(locks_, verb, name, arguments); !reply.empty())
        return reply;
    if (verb == "lock") {
        int count = 1;
        arguments >> count;
        return lock(name, std::max(count, 1));
    }
    if (verb == "unlock") return unlock(name);
    if (verb == "try") return mutex_of(name).try_lock() ? "held" : "busy";
    if (verb == "lost") return mutex_of(name).lost().stop_requested() ? "yes" : "no";
    if (verb == "see") return inspect(name);
    if (verb == "force")
        return locks_.force_release(object_of(name).name) ? "forced true" : "forced false";
    if (verb == "downgrade") {
        auto target = object_of(name);
        auto& lock = other_holds_[name];
        lock = target.client.acquire(target.name, target.options);
        lock.downgrade();
        return "held " + to_string(lock.token());
    }
    if (verb == "end") return to_string(other_holds_.at(name).release());
    if (verb == "pushes")
        return "pushes " +
               std::to_string(locks_.statistics().pushes + read_write_.statistics().pushes +
                              leaseless_.statistics().pushes);
    return "unknown command " + verb;
}

}  // namespace

gate& gate::at(const std::string& file, std::size_t index) {
    const int opened = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    void* shared =
        ::mmap(nullptr, sizeof(gate) * (index + 1), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    ::close(opened);
    if (shared == MAP_FAILED) throw std::runtime_error("the gates cannot be mapped: " + file);
    return static_cast<gate*>(shared)[index];
}

void gate::pass(int count, int all) {
    const auto met = std::atomic_ref(inside).fetch_add(count);
    if (met + count > all || std::atomic_ref(readers) != 0)
        std::atomic_ref(violations).fetch_add(1);
    if (met > 0) std::atomic_ref(meetings).fetch_add(1);
    std::this_thread::yield();
    std::atomic_ref(inside).fetch_sub(count);
}

void gate::read() {
    if (std::atomic_ref(readers).fetch_add(1) > 0) std::atomic_ref(meetings).fetch_add(1);
    if (std::atomic_ref(inside) != 0) std::atomic_ref(violations).fetch_add(1);
    std::this_thread::yield();
    std::atomic_ref(readers).fetch_sub(1);
}

int run_peer(const std::string& url, const std::string& ttl_ms) {
    peer server(url, std::chrono::milliseconds(std::stoll(ttl_ms)));
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::string reply;
        try {
            reply = server.execute_command(line);
        } catch (const std::exception& problem) {
            reply = std::string("failed ") + problem.what();
        }
        std::cout << reply << std::endl;
    }
    return 0;
}

}  // namespace interop
