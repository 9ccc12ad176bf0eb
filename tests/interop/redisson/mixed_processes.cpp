// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "mixed_processes.hpp"

#include <support/eventually.hpp>

#include <charconv>
#include <sstream>
#include <stdexcept>

#include <time.h>

namespace interop {
namespace {

// Java has only the monotonic clock; the two differ by the time that the machine was suspended.
std::int64_t boot_minus_monotonic() {
    const auto in_ns = [](clockid_t which) {
        timespec now{};
        ::clock_gettime(which, &now);
        return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    };
    return in_ns(CLOCK_BOOTTIME) - in_ns(CLOCK_MONOTONIC);
}

support::redis_options plan(bool cluster) {
    support::redis_options options;
    if (cluster) options.config = {"cluster-enabled yes", "cluster-announce-ip 127.0.0.1"};
    return options;
}

}  // namespace

test_process::test_process(pawl::conformance::launch_options options, std::string name)
    : process_(options), name_(std::move(name)) {
    if (const auto first = read_reply(60s); first != "ready")
        throw std::runtime_error(name_ + " began with: " + first);
}

std::string test_process::read_reply(std::chrono::milliseconds bound) {
    auto line = process_.read_line(bound);
    if (!line) throw std::runtime_error(name_ + " did not reply in time");
    return *line;
}

std::vector<std::int64_t> numbers(const std::string& line) {
    std::istringstream arguments(line);
    std::vector<std::int64_t> values;
    for (std::string word; arguments >> word;) {
        std::int64_t value = word == "true" ? 1 : 0;
        std::from_chars(word.data(), word.data() + word.size(), value);
        values.push_back(value);
    }
    return values;
}

mixed_processes::mixed_processes(bool cluster)
    : cluster_(cluster), server_(plan(cluster)), observer_(pawl::from_url(url())) {
    if (cluster) server_.serve_all_slots();
}

test_process mixed_processes::java(std::chrono::milliseconds ttl) const {
    pawl::conformance::launch_options options;
    options.arguments = {
        "java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        std::string(PAWL_INTEROP_JAVA) + "/classes:" + PAWL_INTEROP_JAVA + "/lib/*",
        "pawl.interop.Peer",
        server_.url(),
        std::to_string(ttl.count()),
        std::to_string(boot_minus_monotonic())};
    if (cluster_) options.arguments.emplace_back("cluster");
    return {options, "Java"};
}

test_process mixed_processes::pawl(std::chrono::milliseconds ttl) const {
    return pawl_at(url(), ttl);
}

test_process mixed_processes::pawl_at(const std::string& url, std::chrono::milliseconds ttl) const {
    return {pawl::conformance::launch_as_helper({"peer", url, std::to_string(ttl.count())}),
            "Pawl"};
}

bool mixed_processes::has_waiters(const std::string& name, std::uint64_t count) {
    return support::eventually([&] { return observer_.inspect(name).waiters == count; });
}

bool mixed_processes::has_listeners(std::size_t count) {
    const std::string mode = cluster_ ? "SHARDCHANNELS" : "CHANNELS";
    return support::eventually([&] {
        return server_.execute({"PUBSUB", mode, "redisson_*"}).items.size() == count;
    });
}

}  // namespace interop
