// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The helper process: one command in each line, one reply line for each. Names have no spaces.
//   acquire NAME TTL_MS WAIT_MS|forever [MAX_HOLD_MS]   held TOKEN | timed_out | failed SENTENCE
//   take exclusive|fair|shared|permits NAME TTL_MS WAIT_MS|forever [PERMITS TOTAL]   as acquire
//   try NAME TTL_MS [VALUE]        held TOKEN | busy | failed SENTENCE
//   release NAME                   release RESULT
//   drop NAME                      dropped | unknown
//   state NAME                     state STATE
//   watch NAME                     watching, and after a pause of the process: woke STATE
//   fork NAME                      child STATE RESULT
//   count NAME TTL_MS FILE TIMES   counted
//   latch_down NAME                left COUNT
//   latch_wait NAME                open | timed_out
//   loop_VERB …                    see forking_loop.hpp
//   vanish                         no reply: the process ends at once
// STATE is the lock's state, followed by " forked" in a fork of the holder.
#include "forking_loop.hpp"
#include "helper_output.hpp"

#include <pawl/blocking/client.hpp>
#include <pawl/blocking/latch.hpp>
#include <pawl/spi/conformance.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace pawl::conformance {

namespace {

using namespace std::chrono_literals;

duration milliseconds_in(const std::string& word) {
    return word.empty() || word == "forever" ? forever
                                             : std::chrono::milliseconds(std::stoll(word));
}

class command_server {
public:
    explicit command_server(const service& service_to_lock)
        : service_(service_to_lock), client_(service_to_lock, {.command = "conformance agent"}) {}

    void run_command(const std::string& command);

private:
    void acquire(std::istream& arguments);
    void acquire_in_mode(std::istream& arguments);
    void acquire_and_report(const std::string& name, const lock_options& options);
    void try_acquire(std::istream& arguments);
    void count(std::istream& arguments);
    void watch(const std::string& name);
    void fork_and_report(const std::string& name);
    void latch(const std::string& verb, const std::string& name);

    const service service_;
    blocking::client client_;
    std::map<std::string, blocking::held_lock> held_;
    std::unique_ptr<forking_loop> loop_;
};

void command_server::acquire(std::istream& arguments) {
    std::string name, ttl, wait, max_hold;
    arguments >> name >> ttl >> wait >> max_hold;
    acquire_and_report(name, {.ttl = milliseconds_in(ttl),
                              .wait = milliseconds_in(wait),
                              .max_hold = milliseconds_in(max_hold)});
}

void command_server::acquire_in_mode(std::istream& arguments) {
    std::string mode, name, ttl, wait;
    arguments >> mode >> name >> ttl >> wait;
    lock_options options{.ttl = milliseconds_in(ttl), .wait = milliseconds_in(wait)};
    options.fair = mode == "fair";
    if (mode == "shared") options.mode = lock_mode::shared;
    if (mode == "permits") {
        options.mode = lock_mode::permits;
        arguments >> options.permits >> options.total_permits;
    }
    acquire_and_report(name, options);
}

void command_server::acquire_and_report(const std::string& name, const lock_options& options) {
    try {
        auto lock = client_.acquire(name, options);
        const auto token = lock.token();
        held_[name] = std::move(lock);
        write_line("held " + to_string(token));
    } catch (const error& failure) {
        write_line(failure.reason() == errc::timed_out ? "timed_out"
                                                       : std::string("failed ") + failure.what());
    }
}

void command_server::try_acquire(std::istream& arguments) {
    std::string name, ttl, value;
    arguments >> name >> ttl >> value;
    try {
        const try_options options{.ttl = milliseconds_in(ttl)};
        auto lock = value.empty() ? client_.try_acquire(name, options)
                                  : client_.try_acquire_as(name, value, options);
        const std::string reply = lock ? "held " + to_string(lock.token()) : "busy";
        if (lock) held_[name] = std::move(lock);
        write_line(reply);
    } catch (const error& failure) {
        write_line(std::string("failed ") + failure.what());
    }
}

// Reads the number, yields, and writes back one more: the sum is right only under mutual exclusion.
void command_server::count(std::istream& arguments) {
    std::string name, ttl, file;
    int times = 0;
    arguments >> name >> ttl >> file >> times;
    for (int i = 0; i < times; ++i) {
        auto lock = client_.acquire(name, {.ttl = milliseconds_in(ttl)});
        long value = 0;
        std::ifstream(file) >> value;
        std::this_thread::yield();
        std::ofstream(file) << value + 1;
    }
    write_line("counted");
}

// Reports the state that the holder sees first after the whole process was stopped.
void command_server::watch(const std::string& name) {
    const auto& lock = held_.at(name);
    time_point before = boot_clock::now();
    write_line("watching");
    for (;;) {
        const time_point now = boot_clock::now();
        if (now - before > 300ms) break;
        before = now;
        std::this_thread::sleep_for(1ms);
    }
    write_line("woke " + describe_state(lock));
}

void command_server::fork_and_report(const std::string& name) {
    const pid_t child_pid = ::fork();
    if (child_pid == 0) {
        auto lock = std::move(held_.at(name));
        const std::string state_seen = describe_state(lock);
        const std::string result = word(lock.release());
        write_line("child " + state_seen + " " + result);
        lock = {};
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child_pid, &status, 0);
}

void command_server::latch(const std::string& verb, const std::string& name) {
    blocking::latch tested_latch(client_, name);
    if (verb == "latch_down")
        return write_line("left " + std::to_string(tested_latch.count_down()));
    write_line(tested_latch.wait_for(60s) ? "open" : "timed_out");
}

void command_server::run_command(const std::string& command) {
    std::istringstream arguments(command);
    std::string verb;
    arguments >> verb;
    if (verb == "acquire") return acquire(arguments);
    if (verb == "take") return acquire_in_mode(arguments);
    if (verb == "try") return try_acquire(arguments);
    if (verb == "count") return count(arguments);
    if (verb == "loop_fork") {
        loop_ = std::make_unique<forking_loop>(service_);
        return loop_->fork(arguments);
    }
    if (verb.starts_with("loop_")) return loop_->run_command(verb);
    std::string name;
    arguments >> name;
    if (verb.starts_with("latch_")) return latch(verb, name);
    if (verb == "release")
        write_line("release " + word(held_.at(name).release()));
    else if (verb == "state")
        write_line("state " + describe_state(held_.at(name)));
    else if (verb == "drop")
        write_line(held_.erase(name) == 1 ? "dropped" : "unknown");
    else if (verb == "watch")
        watch(name);
    else if (verb == "fork")
        fork_and_report(name);
    else
        write_line("unknown command " + verb);
}

// Executes commands from stdin until it ends.
int run_agent(const service& service_to_lock) {
    command_server server(service_to_lock);
    write_line("ready");
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "vanish") ::_exit(0);
        server.run_command(line);
    }
    return 0;
}

}  // namespace

std::optional<int> helper_main(int argc, char** argv, const opener& open) {
    if (argc < 4 || std::string_view(argv[1]) != "--pawl-helper" ||
        std::string_view(argv[2]) != "agent")
        return std::nullopt;
    try {
        return run_agent(open(argv[3]));
    } catch (const std::exception& failure) {
        write_line(std::string("failed ") + failure.what());
        return 1;
    }
}

}  // namespace pawl::conformance
