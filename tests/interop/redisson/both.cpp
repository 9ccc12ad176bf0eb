#include "both.hpp"

#include <support/eventually.hpp>

#include <charconv>
#include <sstream>
#include <stdexcept>

#include <time.h>

namespace interop {
namespace {

// Java knows the monotonic clock only; the two differ by the time that the machine was suspended.
std::int64_t boot_minus_monotonic() {
    const auto in_ns = [](clockid_t which) {
        timespec now{};
        ::clock_gettime(which, &now);
        return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    };
    return in_ns(CLOCK_BOOTTIME) - in_ns(CLOCK_MONOTONIC);
}

support::redis_plan plan(bool cluster) {
    support::redis_plan one;
    if (cluster) one.config = {"cluster-enabled yes", "cluster-announce-ip 127.0.0.1"};
    return one;
}

}  // namespace

side::side(pawl::conformance::launch how, std::string name)
    : process_(how), name_(std::move(name)) {
    if (const auto first = answer(60s); first != "ready")
        throw std::runtime_error(name_ + " began with: " + first);
}

std::string side::answer(std::chrono::milliseconds bound) {
    auto line = process_.read_line(bound);
    if (!line) throw std::runtime_error(name_ + " gave no answer in time");
    return *line;
}

std::vector<std::int64_t> numbers(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::int64_t> found;
    for (std::string word; words >> word;) {
        std::int64_t value = word == "true" ? 1 : 0;
        std::from_chars(word.data(), word.data() + word.size(), value);
        found.push_back(value);
    }
    return found;
}

both::both(bool cluster) : cluster_(cluster), server_(plan(cluster)), eyes_(pawl::from_url(url())) {
    if (!cluster) return;
    (void)server_.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    const auto ready = [&] {
        return server_.ask({"CLUSTER", "INFO"}).text.find("cluster_state:ok") != std::string::npos;
    };
    if (!support::eventually(ready)) throw std::runtime_error("the cluster does not begin");
}

side both::java(std::chrono::milliseconds ttl) const {
    pawl::conformance::launch how;
    how.words = {"java",
                 "-XX:TieredStopAtLevel=1",
                 "-cp",
                 std::string(PAWL_INTEROP_JAVA) + "/classes:" + PAWL_INTEROP_JAVA + "/lib/*",
                 "pawl.interop.Peer",
                 server_.url(),
                 std::to_string(ttl.count()),
                 std::to_string(boot_minus_monotonic())};
    if (cluster_) how.words.emplace_back("cluster");
    return {how, "Java"};
}

side both::pawl(std::chrono::milliseconds ttl) const { return pawl_at(url(), ttl); }

side both::pawl_at(const std::string& url, std::chrono::milliseconds ttl) const {
    return {pawl::conformance::myself_as_helper({"peer", url, std::to_string(ttl.count())}),
            "Pawl"};
}

bool both::has_waiters(const std::string& name, std::uint64_t count) {
    return support::eventually([&] { return eyes_.inspect(name).waiters == count; });
}

bool both::has_listeners(std::size_t count) {
    const std::string how = cluster_ ? "SHARDCHANNELS" : "CHANNELS";
    return support::eventually([&] {
        return server_.ask({"PUBSUB", how, "redisson_*"}).items.size() == count;
    });
}

}  // namespace interop
