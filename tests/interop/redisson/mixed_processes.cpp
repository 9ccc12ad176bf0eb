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

// The addresses for Redisson; Pawl's URL has some other form for more than one.
std::string joined_urls(const std::vector<const support::redis_server*>& servers) {
    std::string result;
    for (const auto* each : servers)
        result += (result.empty() ? "" : ",") + each->url();
    return result;
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

mixed_processes::mixed_processes(deployment where) : where_(where) {
    switch (where) {
    case deployment::server: server_ = std::make_unique<support::redis_server>(); break;
    case deployment::cluster_node:
        server_ = std::make_unique<support::redis_server>(support::redis_options{
            .config = {"cluster-enabled yes", "cluster-announce-ip 127.0.0.1"}});
        server_->serve_all_slots();
        break;
    case deployment::cluster: cluster_ = std::make_unique<support::cluster_group>(); break;
    case deployment::three_servers:
        independent_ = std::make_unique<support::redlock_group>(3);
        break;
    case deployment::five_servers:
        independent_ = std::make_unique<support::redlock_group>(5);
        break;
    case deployment::sentinels:
        sentinels_ = std::make_unique<support::sentinel_group>(
            support::sentinel_group_options{.replicas = 1});
        // Redisson's lock fails if the replica does not confirm it.
        if (!sentinels_->is_replicated()) throw std::runtime_error("the replica does not start");
        break;
    }
    observer_.emplace(pawl::from_url(url()));
}

support::redis_server& mixed_processes::server() const {
    if (cluster_) return cluster_->node(0);
    if (sentinels_) return sentinels_->server(0);
    if (independent_) return independent_->node(0);
    return *server_;
}

support::redis_server& mixed_processes::server_of(const std::string& key) {
    return cluster_ ? cluster_->node(cluster_->node_of(key)) : server();
}

std::string mixed_processes::url() const {
    const std::string layout = "?layout=redisson";
    if (cluster_) return cluster_->url(layout);
    if (sentinels_) return sentinels_->url(layout);
    if (independent_) return independent_->url(layout + "&fenced=no");
    return server_->url(layout);
}

std::vector<std::string> mixed_processes::names(const std::string& prefix) {
    if (!cluster_) return {prefix};
    std::vector<std::string> result;
    for (std::size_t master = 0; master < cluster_->node_count(); ++master)
        result.push_back(cluster_->name_on(master, prefix));
    return result;
}

test_process mixed_processes::java(std::chrono::milliseconds ttl) const {
    std::vector<const support::redis_server*> addresses;
    if (sentinels_)
        for (std::size_t i = 0; i < sentinels_->sentinel_count(); ++i)
            addresses.push_back(&sentinels_->sentinel(i));
    else if (cluster_)
        for (std::size_t i = 0; i < cluster_->node_count(); ++i)
            addresses.push_back(&cluster_->node(i));
    else if (independent_)
        for (std::size_t i = 0; i < independent_->node_count(); ++i)
            addresses.push_back(&independent_->node(i));
    else
        addresses.push_back(server_.get());
    pawl::conformance::launch_options options;
    options.arguments = {
        "java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        std::string(PAWL_INTEROP_JAVA) + "/classes:" + PAWL_INTEROP_JAVA + "/lib/*",
        "pawl.interop.Peer",
        joined_urls(addresses),
        std::to_string(ttl.count()),
        std::to_string(boot_minus_monotonic())};
    if (in_slots()) options.arguments.emplace_back("cluster");
    if (independent_) options.arguments.emplace_back("redlock");
    if (sentinels_) options.arguments.push_back("sentinels:" + support::master_name);
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
    return support::eventually([&] { return observer_->inspect(name).waiters == count; });
}

std::size_t mixed_processes::count_listeners() {
    const support::command_words words{"PUBSUB", in_slots() ? "SHARDCHANNELS" : "CHANNELS",
                                       "redisson_*"};
    if (!cluster_) return server().execute(words).items.size();
    std::size_t sum = 0;
    for (std::size_t i = 0; i < cluster_->node_count(); ++i)
        sum += cluster_->node(i).execute(words).items.size();
    return sum;
}

bool mixed_processes::has_listeners(std::size_t count) {
    return support::eventually([&] { return count_listeners() == count; });
}

}  // namespace interop
