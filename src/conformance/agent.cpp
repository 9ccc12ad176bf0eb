// The helper process: one command a line, one answer a line. Names here have no spaces.
//   acquire NAME TTL_MS WAIT_MS|forever [MAX_HOLD_MS]   held TOKEN | timed_out | failed SENTENCE
//   take exclusive|fair|shared|permits NAME TTL_MS WAIT_MS|forever [PERMITS OF]      as acquire
//   try NAME TTL_MS [VALUE]                             held TOKEN | busy | failed SENTENCE
//   release NAME    release RESULT        drop NAME     dropped
//   state NAME      state STATE REASON    watch NAME    watching, and after a pause: woke STATE
//   REASON fork NAME       child STATE REASON RESULT           count NAME TTL_MS FILE TIMES counted
//   latch_down NAME  left COUNT          latch_wait NAME  open
//   loop_VERB …     see forking_loop.hpp
#include "agent.hpp"

#include "forking_loop.hpp"

#include <pawl/blocking.hpp>
#include <pawl/blocking_latch.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace pawl::conformance {

void say(const std::string& line) {
    const std::string whole = line + "\n";
    if (::write(STDOUT_FILENO, whole.data(), whole.size()) < 0) ::_exit(1);
}

std::string word(lock_state state) {
    constexpr const char* words[] = {"held", "at_risk", "lost", "released"};
    return words[static_cast<std::size_t>(state)];
}

std::string word(release_result result) {
    constexpr const char* words[] = {"released", "expired", "taken_over", "unknown", "still_held"};
    return words[static_cast<std::size_t>(result)];
}

namespace {

using namespace std::chrono_literals;

duration milliseconds_in(const std::string& word) {
    return word.empty() || word == "forever" ? forever
                                             : std::chrono::milliseconds(std::stoll(word));
}

class desk {
public:
    explicit desk(const service& where)
        : where_(where), locks_(where, {.command = "conformance agent"}) {}

    void serve(const std::string& command);

private:
    void acquire(std::istream& words);
    void take(std::istream& words);
    void take(const std::string& name, const lock_options& options);
    void try_acquire(std::istream& words);
    void count(std::istream& words);
    void watch(const std::string& name);
    void fork_off(const std::string& name);
    void latch(const std::string& verb, const std::string& name);

    const service where_;
    blocking::client locks_;
    std::map<std::string, blocking::held_lock> held_;
    std::unique_ptr<forking_loop> loop_;
};

void desk::acquire(std::istream& words) {
    std::string name, ttl, wait, max_hold;
    words >> name >> ttl >> wait >> max_hold;
    take(name, {.ttl = milliseconds_in(ttl),
                .wait = milliseconds_in(wait),
                .max_hold = milliseconds_in(max_hold)});
}

void desk::take(std::istream& words) {
    std::string mode, name, ttl, wait;
    words >> mode >> name >> ttl >> wait;
    lock_options options{.ttl = milliseconds_in(ttl), .wait = milliseconds_in(wait)};
    options.fair = mode == "fair";
    if (mode == "shared") options.mode = lock_mode::shared;
    if (mode == "permits") {
        options.mode = lock_mode::permits;
        words >> options.permits >> options.of;
    }
    take(name, options);
}

void desk::take(const std::string& name, const lock_options& options) {
    try {
        auto lock = locks_.acquire(name, options);
        const auto token = lock.token();
        held_[name] = std::move(lock);
        say("held " + to_string(token));
    } catch (const error& failure) {
        say(failure.reason() == errc::timed_out ? "timed_out"
                                                : std::string("failed ") + failure.what());
    }
}

void desk::try_acquire(std::istream& words) {
    std::string name, ttl, value;
    words >> name >> ttl >> value;
    try {
        const try_options options{.ttl = milliseconds_in(ttl)};
        auto lock = value.empty() ? locks_.try_acquire(name, options)
                                  : locks_.try_acquire_as(name, value, options);
        const std::string answer = lock ? "held " + to_string(lock.token()) : "busy";
        if (lock) held_[name] = std::move(lock);
        say(answer);
    } catch (const error& failure) {
        say(std::string("failed ") + failure.what());
    }
}

// Reads, thinks and writes back: adds up only if nobody else is doing the same.
void desk::count(std::istream& words) {
    std::string name, ttl, file;
    int times = 0;
    words >> name >> ttl >> file >> times;
    for (int i = 0; i < times; ++i) {
        auto lock = locks_.acquire(name, {.ttl = milliseconds_in(ttl)});
        long value = 0;
        std::ifstream(file) >> value;
        std::this_thread::yield();
        std::ofstream(file) << value + 1;
    }
    say("counted");
}

// The first thing that a holder sees after the whole process stood still.
void desk::watch(const std::string& name) {
    const auto& lock = held_.at(name);
    time_point before = boot_clock::now();
    say("watching");
    for (;;) {
        const time_point now = boot_clock::now();
        if (now - before > 300ms) break;
        before = now;
        std::this_thread::sleep_for(1ms);
    }
    say("woke " + described(lock));
}

void desk::fork_off(const std::string& name) {
    const pid_t twin = ::fork();
    if (twin == 0) {
        auto lock = std::move(held_.at(name));
        const std::string seen = described(lock);
        const std::string result = word(lock.release());
        say("child " + seen + " " + result);
        lock = {};
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(twin, &status, 0);
}

void desk::latch(const std::string& verb, const std::string& name) {
    blocking::latch one(locks_, name);
    if (verb == "latch_down") return say("left " + std::to_string(one.count_down()));
    say(one.wait_for(60s) ? "open" : "timed_out");
}

void desk::serve(const std::string& command) {
    std::istringstream words(command);
    std::string verb;
    words >> verb;
    if (verb == "acquire") return acquire(words);
    if (verb == "take") return take(words);
    if (verb == "try") return try_acquire(words);
    if (verb == "count") return count(words);
    if (verb == "loop_fork") {
        loop_ = std::make_unique<forking_loop>(where_);
        return loop_->fork(words);
    }
    if (verb.starts_with("loop_")) return loop_->serve(verb);
    std::string name;
    words >> name;
    if (verb.starts_with("latch_")) return latch(verb, name);
    if (verb == "release")
        say("release " + word(held_.at(name).release()));
    else if (verb == "state")
        say("state " + described(held_.at(name)));
    else if (verb == "drop")
        say(held_.erase(name) == 1 ? "dropped" : "unknown");
    else if (verb == "watch")
        watch(name);
    else if (verb == "fork")
        fork_off(name);
    else
        say("unknown command " + verb);
}

}  // namespace

int run_agent(const service& where) {
    desk here(where);
    say("ready");
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "vanish") ::_exit(0);
        here.serve(line);
    }
    return 0;
}

std::optional<int> helper_main(int argc, char** argv, const opener& open) {
    if (argc < 4 || std::string_view(argv[1]) != "--pawl-helper" ||
        std::string_view(argv[2]) != "agent")
        return std::nullopt;
    try {
        return run_agent(open(argv[3]));
    } catch (const std::exception& failure) {
        say(std::string("failed ") + failure.what());
        return 1;
    }
}

}  // namespace pawl::conformance
