// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redlock over four servers and a master with Sentinels. A failover of that master is a loss of the
// node's memory, and excuses nothing. Another node may fail at the same time: two of five.
#include "environments.hpp"
#include "redlock_nodes.hpp"
#include "sentinel_environment.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace real {

namespace {

using namespace std::chrono_literals;

class redlock_sentinel_environment : public sentinel_environment {
    static constexpr std::size_t servers = 4;  // beside the master

public:
    explicit redlock_sentinel_environment(const environment_options& options)
        : sentinel_environment(options, servers),
          client_(client_machine(0)),
          key_of_master_(options.keys.size()),
          nodes_(start_nodes(machines())),
          url_(url_of_nodes(options)),
          watch_(sockets(), look_at_node(), &read_node) {
        pace start(0, [] {});
        begin_set_from(client_, url_, "new", start);
    }

    [[nodiscard]] client_access access(safeguards wanted) override {
        client_access result{.url = url_};
        if (wanted == safeguards::naive) {
            result.counters = sockets();
            result.has_readers = false;
        }
        return result;
    }

    [[nodiscard]] std::vector<fault> faults() override {
        auto all = sentinel_environment::faults();
        for (auto& each : all)
            each.run = [this, run = std::move(each.run)](pace& pace) { run_with_other(run, pace); };
        return all;
    }

    // A failover of the master allows nothing: its key stands for none of the locks.
    [[nodiscard]] std::vector<server_period> history() override {
        auto result = sentinel_environment::history();
        for (auto& each : result)
            if (each.state.is_master) each.state.keys = {key_of_master_};
        for (std::size_t i = 0; i < servers; ++i)
            for (const auto& each : watch_.periods(i))
                result.push_back({.server = name_of(*nodes_[i]),
                                  .state = each.state,
                                  .from = each.from,
                                  .until = each.until});
        return result;
    }

    [[nodiscard]] std::vector<pid_t> server_processes() override {
        auto all = sentinel_environment::server_processes();
        for (const auto& each : nodes_)
            all.push_back(each->pid());
        return all;
    }

    [[nodiscard]] std::string logs() override {
        auto text = sentinel_environment::logs();
        for (const auto& each : nodes_)
            text += end_of_log(*each) + text_of_membership(*each);
        return text + "master " + name_of(master()) + ", " + text_of_membership(master());
    }

private:
    using node_list = std::vector<std::unique_ptr<support::redis_server>>;

    static node_list start_nodes(const std::vector<support::machine>& machines) {
        node_list all;
        for (std::size_t i = server_count; i < machines.size(); ++i)
            all.push_back(std::make_unique<support::redis_server>(
                support::redis_options{.config = {}, .runs_on = machines[i]}));
        return all;
    }

    [[nodiscard]] std::string url_of_nodes(const environment_options& options) {
        std::string names;
        for (const auto& each : nodes_)
            names += name_of(*each) + ",";
        return "redlock://" + names + node_name() +
               "?ttl_max=" + std::to_string(options.longest_ttl.count());
    }

    [[nodiscard]] std::vector<std::string> sockets() const {
        return unix_sockets(servers, [this](std::size_t i) -> auto& { return *nodes_[i]; });
    }

    // The fault of the master, while another node has lost its data, is away, or is stopped.
    void run_with_other(const std::function<void(pace&)>& fault_of_master, pace& pace) {
        auto& other = *nodes_[pace.pick(servers)];
        switch (pace.pick(4)) {
        case 0: other.kill9(); break;
        case 1: other.freeze(); break;
        case 2: (void)other.execute({"FLUSHALL"}); break;
        default: break;
        }
        fault_of_master(pace);
        if (other.is_frozen()) other.thaw();
        if (!other.is_running()) other.start(false);
        std::vector<support::redis_server*> all{&master()};
        for (const auto& each : nodes_)
            all.push_back(each.get());
        wait_for_members(all, pace);
    }

    const support::machine client_;
    const std::size_t key_of_master_;
    const node_list nodes_;
    const std::string url_;
    state_watch<server_state> watch_;
};

}  // namespace

std::unique_ptr<environment> start_redlock_sentinel(const environment_options& options) {
    return std::make_unique<redlock_sentinel_environment>(options);
}

}  // namespace real
