// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Three members of etcd. A majority has each grant, so the guarantee table promises exclusion in
// each of these faults.
#include "environments.hpp"
#include "test_machines.hpp"

#include <support/etcd_server.hpp>

#include <array>
#include <stdexcept>

namespace real {

namespace {

using namespace std::chrono_literals;

class etcd_environment : public environment {
public:
    etcd_environment() : cluster_({.members = 3}) {}

    [[nodiscard]] client_access access(safeguards) override {
        return {.url = cluster_.url(), .shortest_ttl = 2s};
    }
    [[nodiscard]] support::machine client_machine(std::size_t) const override { return {}; }
    [[nodiscard]] static std::vector<std::string> fault_names() { return names_of(definitions); }
    [[nodiscard]] std::vector<fault> faults() override { return faults_of(*this, definitions, ""); }
    [[nodiscard]] std::vector<server_period> history() override { return {}; }
    [[nodiscard]] std::string logs() override {
        std::string text;
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            text += end_of_log("member " + std::to_string(i), cluster_.log(i));
        return text;
    }

private:
    using self = etcd_environment;
    static const std::array<fault_definition<self>, 4> definitions;

    void restart(std::size_t index, pace& pace) {
        cluster_.kill9(index);
        pace.pause(0ms, 2s);
        cluster_.start(index);
        cluster_.wait_until_ready(index);
    }
    void crash(pace& pace) { restart(pace.pick(cluster_.size()), pace); }
    void crash_leader(pace& pace) { restart(leader(pace), pace); }
    void crash_all(pace& pace) {
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            cluster_.kill9(i);
        pace.pause(0ms, 500ms);
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            cluster_.start(i);
        for (std::size_t i = 0; i < cluster_.size(); ++i)
            cluster_.wait_until_ready(i);
    }

    // When it continues, it answers what is in its sockets, for holds that may be over, and may
    // believe that it still leads.
    void stop_and_continue_leader(pace& pace) {
        const auto index = leader(pace);
        cluster_.freeze(index);
        pace.pause(50ms, 8s);
        cluster_.thaw(index);
    }

    std::size_t leader(pace& pace) {
        std::size_t index = 0;
        const auto is_known = [&] {
            try {
                index = cluster_.leader();
                return true;
            } catch (const std::runtime_error&) {
                return false;
            }
        };
        pace.until(is_known, "etcd has no leader");
        return index;
    }

    support::etcd_cluster cluster_;
};

const std::array<fault_definition<etcd_environment>, 4> etcd_environment::definitions{
    {{.name = "crash", .run = &self::crash},
     {.name = "leader", .run = &self::crash_leader},
     {.name = "all", .run = &self::crash_all},
     {.name = "pause", .run = &self::stop_and_continue_leader}}};

}  // namespace

std::vector<std::string> etcd_faults() { return etcd_environment::fault_names(); }

std::unique_ptr<environment> start_etcd(const environment_options&) {
    return std::make_unique<etcd_environment>();
}

std::string obstacle_of_etcd() {
    return support::etcd_cluster::is_installed() ? "" : "etcd is not installed";
}

}  // namespace real
