// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "network.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>

#include <sched.h>
#include <unistd.h>

namespace real {

using namespace std::chrono_literals;
using pawl::conformance::child;

namespace {

// On the link between machine i and the router, which is .1 there.
std::string subnet(std::size_t machine) { return "10.99." + std::to_string(machine) + "."; }
std::string address_of(std::size_t machine) { return subnet(machine) + "2"; }

std::vector<std::string> enter(const child& keeper) {
    return {"nsenter", "--net=/proc/" + std::to_string(keeper.pid()) + "/ns/net"};
}

void run_in(const child& keeper, const std::string& script) {
    auto words = enter(keeper);
    words.insert(words.end(), {"sh", "-ec", "exec 2>&1; " + script});
    child shell({.arguments = words, .environment = {}, .output_file = {}, .folder = {}});
    const auto complaint = shell.read_line(30s);
    if (shell.wait(30s) != std::optional<int>(0))
        throw std::runtime_error(complaint.value_or("nsenter does not work"));
}

std::string drop(std::size_t from, std::size_t to) {
    return "iptables -A FORWARD -s " + address_of(from) + " -d " + address_of(to) + " -j DROP; ";
}

child make_namespace() {
    child keeper(pawl::conformance::launch_as_helper({"namespace"}));
    if (keeper.read_line(30s) != "ready") throw std::runtime_error("unshare is not permitted");
    return keeper;
}

}  // namespace

std::unique_ptr<network> network::create(std::size_t machines, std::string& obstacle) {
    if (::geteuid() != 0) {
        obstacle = "network namespaces need root";
        return nullptr;
    }
    try {
        return std::unique_ptr<network>(new network(machines));
    } catch (const std::runtime_error& problem) {
        obstacle = std::string("network namespaces, iproute2 and iptables do not work here (") +
                   problem.what() + ")";
        return nullptr;
    }
}

network::network(std::size_t machines) {
    for (std::size_t i = 0; i <= machines; ++i)
        namespaces_.push_back(make_namespace());
    const child& router = namespaces_.back();
    run_in(router,
           "echo 1 > /proc/sys/net/ipv4/ip_forward; iptables -S FORWARD >/dev/null; "
           "iptables -t nat -S PREROUTING >/dev/null");
    for (std::size_t i = 0; i < machines; ++i) {
        const auto link = "m" + std::to_string(i);
        run_in(router, "ip link add " + link + " type veth peer name eth0 netns " +
                           std::to_string(namespaces_[i].pid()) + "; ip addr add " + subnet(i) +
                           "1/30 dev " + link + "; ip link set " + link + " up");
        run_in(namespaces_[i], "ip link set lo up; ip addr add " + address_of(i) +
                                   "/30 dev eth0; ip link set eth0 up; ip route add default via " +
                                   subnet(i) + "1");
    }
}

support::machine network::machine(std::size_t index) const {
    return {.host = address_of(index), .launcher = enter(namespaces_.at(index))};
}

void network::isolate(const std::vector<std::size_t>& machines, bool outward_only) {
    std::string script;
    for (const auto inside : machines)
        for (std::size_t i = 0; i + 1 < namespaces_.size(); ++i) {
            if (std::ranges::find(machines, i) != machines.end()) continue;
            script += drop(inside, i);
            if (!outward_only) script += drop(i, inside);
        }
    run_in(namespaces_.back(), script);
}

void network::separate(const std::vector<std::size_t>& left,
                       const std::vector<std::size_t>& right) {
    std::string script;
    for (const auto each : left)
        for (const auto other : right)
            script += drop(each, other) + drop(other, each);
    run_in(namespaces_.back(), script);
}

// All at once: between two rules, a connection could reach a server that has lost its name.
void network::set_detours(const std::vector<detour>& detours) {
    std::string rules = "*nat\\n-F PREROUTING\\n";
    for (const auto& each : detours)
        for (const auto from : each.from)
            rules +=
                "-A PREROUTING -s " + address_of(from) + " -d " + address_of(each.name.machine) +
                " -p tcp --dport " + std::to_string(each.name.port) + " -j DNAT --to-destination " +
                address_of(each.server.machine) + ":" + std::to_string(each.server.port) + "\\n";
    run_in(namespaces_.back(), "printf '" + rules + "COMMIT\\n' | iptables-restore --noflush");
}

void network::heal() { run_in(namespaces_.back(), "iptables -F FORWARD"); }

int keep_namespace() {
    if (::unshare(CLONE_NEWNET) != 0) return 1;
    std::cout << "ready" << std::endl;
    std::cin.ignore(1);
    return 0;
}

}  // namespace real
