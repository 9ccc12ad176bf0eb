// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Machines of their own for servers and clients: network namespaces whose only way to each other is
// a router, which drops packets with iptables. Nothing outside is changed, and the namespaces end
// with this program, however it ends.
#pragma once

#include <conformance/process.hpp>
#include <support/redis_server.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace real {

class network {
public:
    // Empty if there can be no namespaces here; `obstacle` is then why, as a sentence.
    [[nodiscard]] static std::unique_ptr<network> create(std::size_t machines,
                                                         std::string& obstacle);

    [[nodiscard]] support::machine machine(std::size_t index) const;
    // No packet passes between these machines and the others, until `heal`. `outward_only`: those
    // of the others still arrive.
    void isolate(const std::vector<std::size_t>& machines, bool outward_only);
    // No packet passes between one of `left` and one of `right`, until `heal`.
    void separate(const std::vector<std::size_t>& left, const std::vector<std::size_t>& right);
    void heal();

    // A service is a port of a machine.
    struct service {
        std::size_t machine = 0;
        std::uint16_t port = 0;
    };
    // What the machines `from` connect to at `name` from now on is at `server`.
    struct detour {
        service name;
        service server;
        std::vector<std::size_t> from;
    };
    // Of two detours of a machine, the first counts. Connections that exist go on as they are.
    void set_detours(const std::vector<detour>& detours);

private:
    explicit network(std::size_t machines);

    std::vector<pawl::conformance::child> namespaces_;  // the last is the router
};

// A helper process that keeps a network namespace until its stdin ends. Returns the exit status.
int keep_namespace();

}  // namespace real
