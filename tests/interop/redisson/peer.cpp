#include "peer.hpp"

#include <pawl/mutex.hpp>

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
    peer(const std::string& url, pawl::duration ttl) : locks_(pawl::from_url(url)), ttl_(ttl) {}

    std::string serve(const std::string& line);

private:
    using mutex = pawl::blocking::recursive_mutex;

    mutex& of(const std::string& name) {
        auto& one = held_[name];
        if (!one) one = std::make_unique<mutex>(locks_, name, options(name));
        return *one;
    }
    [[nodiscard]] pawl::lock_options options(const std::string& name) const {
        return {.ttl = ttl_, .fenced = name.starts_with("fenced")};
    }
    std::string see(const std::string& name);
    std::string contend(std::istream& words);
    std::string crowd_of_one(const std::string& name, int times, gate& shared);

    pawl::blocking::client locks_;
    const pawl::duration ttl_;
    std::map<std::string, std::unique_ptr<mutex>> held_;
};

std::string peer::see(const std::string& name) {
    const auto found = locks_.inspect(name);
    std::ostringstream out;
    out << "seen " << (found.held_by ? "true" : "false") << ' '
        << (found.held_by ? found.held_by->remaining / 1ms : -2) << ' '
        << (found.held_by ? found.held_by->count : 0);
    return out.str();
}

// One thread's acquisitions, as lines: TOKEN INVOKED RETURNED ENDED.
std::string peer::crowd_of_one(const std::string& name, int times, gate& shared) {
    std::ostringstream out;
    for (int i = 0; i < times; ++i) {
        const auto invoked = now();
        pawl::blocking::held_lock lock;
        if (i % 3 == 0)
            lock = locks_.try_acquire(name, {.ttl = ttl_, .fenced = options(name).fenced});
        if (!lock) lock = locks_.acquire(name, options(name));
        const auto returned = now();
        shared.pass();
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

std::string peer::serve(const std::string& line) {
    std::istringstream words(line);
    std::string verb, name;
    words >> verb;
    if (verb == "contend") return contend(words);
    words >> name;
    if (verb == "lock") {
        of(name).lock();
        const auto when = now();
        return "held " + to_string(of(name).token()) + " " + std::to_string(when);
    }
    if (verb == "unlock") {
        const auto before = now();
        of(name).unlock();
        return "unlocked " + std::to_string(before);
    }
    if (verb == "try") return of(name).try_lock() ? "held" : "busy";
    if (verb == "lost") return of(name).lost().stop_requested() ? "yes" : "no";
    if (verb == "see") return see(name);
    if (verb == "force") return locks_.force_release(name) ? "forced true" : "forced false";
    if (verb == "pushes") return "pushes " + std::to_string(locks_.statistics().pushes);
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

void gate::pass() {
    if (std::atomic_ref(inside).fetch_add(1) != 0) std::atomic_ref(shared).fetch_add(1);
    std::this_thread::yield();
    std::atomic_ref(inside).fetch_sub(1);
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
