#include "peer.hpp"

#include "latch_peer.hpp"
#include "storm.hpp"

#include <pawl/mutex.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace std::chrono_literals;

namespace interop {
namespace {

std::int64_t now() { return pawl::boot_clock::now().time_since_epoch().count(); }

class peer {
public:
    peer(const std::string& url, pawl::duration ttl)
        : url_(url),
          locks_(pawl::from_url(url)),
          read_write_(pawl::from_url(url + "&object=readwrite")),
          plain_(pawl::from_url(url + "&object=semaphore")),
          ttl_(ttl) {}

    std::string serve(const std::string& line);

private:
    using mutex = pawl::blocking::recursive_mutex;

    // What a name is, told by how it begins: see Taker.java.
    struct object {
        pawl::blocking::client& in;
        std::string name;
        pawl::lock_options options;
    };
    object object_of(const std::string& name, int count = 1);
    mutex& of(const std::string& name) {
        auto& one = held_[name];
        const auto what = object_of(name);
        if (!one) one = std::make_unique<mutex>(what.in, what.name, what.options);
        return *one;
    }
    std::string lock(const std::string& name, int count);
    std::string unlock(const std::string& name);
    std::string see(const std::string& name);
    std::string contend(std::istream& words);
    std::string serve_storm(const std::string& verb, const std::string& journal,
                            std::istream& words);
    std::string crowd_of_one(const std::string& name, int times, gate& shared);

    const std::string url_;
    std::unique_ptr<storm_worker> storm_;
    pawl::blocking::client locks_, read_write_, plain_;
    const pawl::duration ttl_;
    std::map<std::string, std::unique_ptr<mutex>> held_;
    std::map<std::string, pawl::blocking::held_lock> lent_;
};

bool counts(const std::string& name) {
    return name.starts_with("permits") || name.starts_with("semaphore");
}

peer::object peer::object_of(const std::string& name, int count) {
    pawl::lock_options how{.ttl = ttl_, .fenced = name.starts_with("fenced")};
    if (name.starts_with("write:")) return {read_write_, name.substr(6), how};
    if (name.starts_with("read:")) {
        how.mode = pawl::lock_mode::shared;
        return {read_write_, name.substr(5), how};
    }
    if (counts(name)) {
        how.mode = pawl::lock_mode::permits;
        how.permits = static_cast<std::uint32_t>(count);
        how.of = permits;
        return {name.starts_with("permits") ? locks_ : plain_, name, how};
    }
    how.fair = name.starts_with("fair");
    return {locks_, name, how};
}

std::string peer::lock(const std::string& name, int count) {
    if (counts(name)) {
        const auto what = object_of(name, count);
        lent_[name] = what.in.acquire(what.name, what.options);
        return "held 0 " + std::to_string(now());
    }
    of(name).lock();
    const auto when = now();
    return "held " + to_string(of(name).token()) + " " + std::to_string(when);
}

std::string peer::unlock(const std::string& name) {
    const auto before = now();
    if (counts(name))
        (void)lent_.at(name).release();
    else
        of(name).unlock();
    return "unlocked " + std::to_string(before);
}

std::string peer::see(const std::string& name) {
    const auto found = locks_.inspect(object_of(name).name);
    std::ostringstream out;
    if (counts(name)) {
        auto free = found.permits - (found.held_by ? found.held_by->permits : 0);
        for (const auto& other : found.others)
            free -= other.permits;
        out << "seen " << free << ' ' << found.permits;
        return out.str();
    }
    const auto mode =
        name.starts_with("read:") ? pawl::lock_mode::shared : pawl::lock_mode::exclusive;
    const bool held = found.held_by && found.held_by->mode == mode;
    out << "seen " << (held ? "true" : "false") << ' '
        << (held ? found.held_by->remaining / 1ms : -2) << ' ' << (held ? found.held_by->count : 0)
        << ' ' << (found.held_by ? 1 + found.others.size() : 0);
    return out.str();
}

// One thread's acquisitions, as lines: TOKEN INVOKED RETURNED ENDED.
std::string peer::crowd_of_one(const std::string& name, int times, gate& shared) {
    std::ostringstream out;
    const bool both = name.starts_with("rw");
    for (int i = 0; i < times; ++i) {
        const bool reads = both && i % 4 != 0;
        const int count = counts(name) ? 1 + i % 2 : 1;
        const auto what =
            object_of(both ? (reads ? "read:" + name : "write:" + name) : name, count);
        const auto invoked = now();
        pawl::blocking::held_lock lock;
        if (i % 3 == 0)
            lock = what.in.try_acquire(what.name, {.ttl = ttl_,
                                                   .mode = what.options.mode,
                                                   .fenced = what.options.fenced,
                                                   .permits = what.options.permits,
                                                   .of = what.options.of});
        if (!lock) lock = what.in.acquire(what.name, what.options);
        const auto returned = now();
        if (reads)
            shared.read();
        else
            shared.pass(count, counts(name) ? permits : 1);
        const auto ended = now();
        if (lock.release() != pawl::release_result::released) return "failed: a release";
        out << lock.token() << ' ' << invoked << ' ' << returned << ' ' << ended << '\n';
    }
    return out.str();
}

std::string peer::contend(std::istream& words) {
    std::string name, log, file;
    std::size_t threads = 0;
    int times = 0;
    words >> name >> threads >> times >> log >> file;
    auto& shared = gate::at(file);
    std::vector<std::string> written(threads);
    {
        std::vector<std::jthread> crowd;
        for (auto& mine : written)
            crowd.emplace_back([&] { mine = crowd_of_one(name, times, shared); });
    }
    std::ofstream out(log);
    for (const auto& mine : written) {
        if (mine.starts_with("failed")) return mine;
        out << mine;
    }
    return "done";
}

std::string peer::serve_storm(const std::string& verb, const std::string& journal,
                              std::istream& words) {
    if (verb == "calm") {
        storm_->calm_down();
        return "calm";
    }
    std::string how;
    words >> how;
    storm_ = make_storm_worker(how, url_, ttl_ / 1ms, journal);
    return "storming -";
}

std::string peer::serve(const std::string& line) {
    std::istringstream words(line);
    std::string verb, name;
    words >> verb;
    if (verb == "contend") return contend(words);
    words >> name;
    if (verb == "storm" || verb == "calm") return serve_storm(verb, name, words);
    if (auto answer = serve_latch(locks_, verb, name, words); !answer.empty()) return answer;
    if (verb == "lock") {
        int count = 1;
        words >> count;
        return lock(name, std::max(count, 1));
    }
    if (verb == "unlock") return unlock(name);
    if (verb == "try") return of(name).try_lock() ? "held" : "busy";
    if (verb == "lost") return of(name).lost().stop_requested() ? "yes" : "no";
    if (verb == "see") return see(name);
    if (verb == "force")
        return locks_.force_release(object_of(name).name) ? "forced true" : "forced false";
    if (verb == "downgrade") {
        auto what = object_of(name);
        auto& mine = lent_[name];
        mine = what.in.acquire(what.name, what.options);
        mine.downgrade();
        return "held " + to_string(mine.token());
    }
    if (verb == "end") return to_string(lent_.at(name).release());
    if (verb == "pushes")
        return "pushes " +
               std::to_string(locks_.statistics().pushes + read_write_.statistics().pushes +
                              plain_.statistics().pushes);
    return "unknown command " + verb;
}

}  // namespace

gate& gate::at(const std::string& file) {
    const int opened = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    void* shared = ::mmap(nullptr, sizeof(gate), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    ::close(opened);
    if (shared == MAP_FAILED) throw std::runtime_error("the gate cannot be mapped: " + file);
    return *static_cast<gate*>(shared);
}

void gate::pass(int count, int all) {
    const auto met = std::atomic_ref(inside).fetch_add(count);
    if (met + count > all || std::atomic_ref(readers) != 0) std::atomic_ref(wrong).fetch_add(1);
    if (met > 0) std::atomic_ref(together).fetch_add(1);
    std::this_thread::yield();
    std::atomic_ref(inside).fetch_sub(count);
}

void gate::read() {
    if (std::atomic_ref(readers).fetch_add(1) > 0) std::atomic_ref(together).fetch_add(1);
    if (std::atomic_ref(inside) != 0) std::atomic_ref(wrong).fetch_add(1);
    std::this_thread::yield();
    std::atomic_ref(readers).fetch_sub(1);
}

int run_peer(const std::string& url, const std::string& ttl_ms) {
    peer here(url, std::chrono::milliseconds(std::stoll(ttl_ms)));
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::string answer;
        try {
            answer = here.serve(line);
        } catch (const std::exception& problem) {
            answer = std::string("failed ") + problem.what();
        }
        std::cout << answer << std::endl;
    }
    return 0;
}

}  // namespace interop
