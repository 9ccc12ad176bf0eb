// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Independent servers for Redlock. Each fault strikes two of the five nodes at most, so a majority
// always remembers; the next fault begins when all are members of the set again, but perhaps still
// in their quarantine. The faults that run by name only are the exceptions.
#include "environments.hpp"
#include "redlock_nodes.hpp"
#include "test_machines.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <set>

namespace real {

namespace {

using namespace std::chrono_literals;

class redlock_environment : public environment {
    static constexpr std::size_t nodes = 5;
    static constexpr std::size_t minority = 2;
    static constexpr std::size_t servers = nodes + 1;  // one has no name, until it takes a node's

public:
    explicit redlock_environment(const environment_options& options)
        : options_(options),
          machines_(servers, options.clients),
          servers_(start_servers(machines_)),
          url_(url_of_nodes()),
          watch_(sockets_of(servers), look_at_node(), &read_node) {
        std::iota(server_of_.begin(), server_of_.end(), std::size_t{0});
        servers_[spare_]->kill9();
        pace start(0, [] {});
        begin_set("new", start);
    }

    [[nodiscard]] client_access access(safeguards wanted) override {
        client_access result{.url = url_};
        if (wanted == safeguards::naive) {
            result.counters = sockets_of(nodes);
            result.has_readers = false;
        }
        return result;
    }

    [[nodiscard]] support::machine client_machine(std::size_t index) const override {
        return machines_.of_client(index);
    }

    [[nodiscard]] static std::vector<std::string> fault_names() { return names_of(definitions); }

    [[nodiscard]] std::vector<fault> faults() override {
        auto all = faults_of(*this, definitions, machines_.obstacle());
        for (auto& each : all)
            each.run = [this, run = std::move(each.run)](pace& pace) {
                run(pace);
                recover(pace);
            };
        return all;
    }

    [[nodiscard]] std::vector<server_period> history() override {
        std::vector<server_period> result;
        for (std::size_t i = 0; i < servers; ++i)
            for (const auto& each : watch_.periods(i))
                result.push_back({.server = name_of(*servers_[i]),
                                  .state = each.state,
                                  .from = each.from,
                                  .until = each.until});
        return result;
    }

    // Two of the five, but a majority may be all that has a hold.
    [[nodiscard]] std::vector<memory_loss> memory_losses() override { return losses_; }

    [[nodiscard]] std::vector<pid_t> server_processes() override {
        std::vector<pid_t> all;
        for (const auto& each : servers_)
            all.push_back(each->pid());
        return all;
    }

    [[nodiscard]] std::string logs() override {
        std::string text;
        for (const auto& each : servers_)
            text += end_of_log(*each) + text_of_membership(*each);
        return text;
    }

private:
    using indices = std::vector<std::size_t>;
    using steady_clock = std::chrono::steady_clock;
    using self = redlock_environment;
    using server_list = std::vector<std::unique_ptr<support::redis_server>>;

    static const std::array<fault_definition<self>, 11> definitions;

    static server_list start_servers(const test_machines& machines) {
        server_list all;
        for (const auto& each : machines.of_servers())
            all.push_back(std::make_unique<support::redis_server>(
                support::redis_options{.config = {"enable-debug-command local"}, .runs_on = each}));
        return all;
    }

    [[nodiscard]] std::string url_of_nodes() const {
        std::string names;
        for (std::size_t i = 0; i < nodes; ++i)
            names += (i == 0 ? "" : ",") + name_of(*servers_[i]);
        return "redlock://" + names + "?ttl_max=" + std::to_string(options_.longest_ttl.count());
    }

    [[nodiscard]] std::vector<std::string> sockets_of(std::size_t count) const {
        return unix_sockets(count, [this](std::size_t i) -> auto& { return *servers_[i]; });
    }

    // The server to which the name of a node leads.
    support::redis_server& node(std::size_t index) { return *servers_[server_of_.at(index)]; }
    support::moved_clock& clock_of(std::size_t index) {
        return machines_.clock(server_of_.at(index));
    }

    [[nodiscard]] indices servers_of(const indices& names) const {
        indices all;
        for (const auto each : names)
            all.push_back(server_of_.at(each));
        return all;
    }

    // One or two nodes.
    indices pick_minority(pace& pace) {
        std::set<std::size_t> all{pace.pick(nodes)};
        if (pace.pick(3) != 0) all.insert(pace.pick(nodes));
        return {all.begin(), all.end()};
    }

    // A clock that jumps forward ends leases, older data lack them, and a node that has forgotten a
    // hold may never restore it. So the holds that began before must be over, or be at a majority
    // of other nodes.
    indices pick_for_losses(std::size_t count, pace& pace) {
        const auto nodes_that_forgot = [this] {
            std::set<std::size_t> all;
            for (std::size_t i = 0; i < nodes; ++i)
                if (steady_clock::now() < forgot_at_[i] + 3 * options_.longest_ttl) all.insert(i);
            return all;
        };
        while (nodes_that_forgot().size() > minority)
            pace.pause(100ms, 100ms);
        auto candidates = nodes_that_forgot();
        while (candidates.size() < minority)
            candidates.insert(pace.pick(nodes));
        indices victims(candidates.begin(), candidates.end());
        if (count < minority)
            victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(pace.pick(minority)));
        return victims;
    }

    void kill(std::size_t index) {
        node(index).kill9();
        forgot_at_.at(index) = steady_clock::now();
    }

    void flush_node(std::size_t index) {
        (void)node(index).execute({"FLUSHALL"});
        forgot_at_.at(index) = steady_clock::now();
    }

    void crash(pace& pace) {
        const auto victims = pick_minority(pace);
        for (const auto each : victims) {
            kill(each);
            pace.pause(0ms, 200ms);
        }
        pace.pause(0ms, 1500ms);
        for (const auto each : victims)
            node(each).start(false);
    }

    void flush(pace& pace) {
        for (const auto each : pick_minority(pace)) {
            flush_node(each);
            pace.pause(0ms, 300ms);
        }
    }

    // When they continue, they execute what is in their sockets, for holds that may be over.
    void stop_and_continue(pace& pace) {
        const auto victims = pick_minority(pace);
        for (const auto each : victims)
            node(each).freeze();
        pace.pause(50ms, 4s);
        for (const auto each : victims)
            node(each).thaw();
    }

    // The nodes come back with the locks, the counters and the membership of an earlier time.
    void restart_with_old_data(pace& pace) {
        const auto victims = pick_minority(pace);
        for (const auto each : victims)
            (void)node(each).execute({"SAVE"});
        pace.pause(50ms, 1500ms);
        for (const auto each : victims)
            kill(each);
        pace.pause(0ms, 500ms);
        for (const auto each : victims)
            node(each).start(true);
    }

    // The nodes get data of an earlier time back while they run, and do not notice.
    void roll_back(pace& pace) {
        const auto victims = pick_for_losses(1 + pace.pick(minority), pace);
        for (const auto each : victims)
            (void)node(each).execute({"SAVE"});
        const bool splits = victims.size() == 1 && machines_.obstacle().empty();
        if (splits) split_clients(victims.front(), pick_clients(pace));
        pace.pause(50ms, 1500ms);
        for (const auto each : victims)
            load_saved(each);
        if (!splits) return;
        pace.pause(300ms, 1s);
        machines_.heal();
    }

    // These clients reach this node and two others, the rest reaches it and the other two. So what
    // one part holds is at no other node of the other part's majority.
    void split_clients(std::size_t common, const indices& clients) {
        indices others;
        for (std::size_t i = 1; i < nodes; ++i)
            others.push_back((common + i) % nodes);
        const auto half = others.begin() + minority;
        indices rest;
        for (std::size_t i = 0; i < options_.clients; ++i)
            if (!std::ranges::binary_search(clients, i)) rest.push_back(i);
        machines_.separate(servers_of({others.begin(), half}), clients);
        machines_.separate(servers_of({half, others.end()}), rest);
    }

    // What the last SAVE has written. A server that has been started without data since finds
    // nothing, and is empty then.
    void load_saved(std::size_t index) {
        const auto before = now();
        (void)node(index).execute({"DEBUG", "RELOAD", "NOSAVE"});
        forgot_at_.at(index) = steady_clock::now();
        losses_.push_back({.server = name_of(node(index)),
                           .at = {.earliest = before, .latest = now()},
                           .cause = loss_cause::older_data});
    }

    void step_clock(std::size_t index, pace& pace) {
        set_clock(index, pace.pick(2) == 0 ? pace.between(500ms, 8s) : -pace.between(500ms, 8s));
    }

    void set_clock(std::size_t index, std::chrono::microseconds ahead) {
        real::set_clock(clock_of(index), ahead, name_of(node(index)), losses_);
    }

    // Until the leases that these steps have ended early, and those that they have prolonged, are
    // over: otherwise the clocks of a third node could be next, and that breaks exclusion.
    void set_clocks_right(const indices& victims, pace& pace) {
        for (const auto each : victims)
            set_clock(each, 0us);
        const auto longest_quarantine = options_.longest_ttl * 6 / 5;
        pace.pause(longest_quarantine, longest_quarantine);
    }

    void move_clocks(pace& pace) {
        const auto victims = pick_for_losses(1 + pace.pick(minority), pace);
        for (const auto each : victims)
            step_clock(each, pace);
        pace.pause(100ms, 2s);
        set_clocks_right(victims, pace);
    }

    // Two nodes or none, and any of the clients, are cut off, or send without being heard.
    void isolate(pace& pace) {
        const auto victims = pace.pick(4) == 0 ? indices() : pick_minority(pace);
        machines_.isolate(servers_of(victims), pick_clients(pace), pace.pick(4) == 0);
        pace.pause(300ms, 4s);
        machines_.heal();
    }

    indices pick_clients(pace& pace) {
        indices clients;
        for (std::size_t i = 0; i < options_.clients; ++i)
            if (pace.pick(2) == 0) clients.push_back(i);
        return clients;
    }

    // A second server answers to the name of a node, for some of the clients or all of them, while
    // the first one lives on. The clients of the two servers may have only this node in common, or
    // another node may fail. At last the name leads to one of the servers, and the other one ends.
    void share_name(pace& pace) {
        const auto name = pace.pick(nodes);
        const auto other = pace.pick(2) == 0 ? name : pace.pick(nodes);
        const std::array<std::size_t, 2> rivals{server_of_[name], spare_};
        servers_[spare_]->start(false);
        for (auto steps = 1 + pace.pick(4); steps > 0; --steps) {
            const auto clients = pick_clients(pace);
            lead_to(name, spare_, clients);
            machines_.heal();
            if (other == name && pace.pick(2) == 0) split_clients(name, clients);
            if (pace.pick(3) != 0) end_connections(*servers_[rivals[pace.pick(2)]]);
            if (other != name && pace.pick(3) == 0) change_state(other, pace);
            pace.pause(200ms, 3500ms);
        }
        machines_.heal();
        bring_back(other);
        if (pace.pick(2) == 0) std::swap(server_of_[name], spare_);
        lead_to(name, spare_, {});
        pace.pause(0ms, 1s);
        servers_[spare_]->kill9();
        forgot_at_[name] = steady_clock::now();
    }

    // New connections of these clients to this node; all others go where the names lead.
    void lead_to(std::size_t name, std::size_t server, indices clients) {
        const auto service_of = [this](std::size_t index) {
            return network::service{.machine = index, .port = servers_[index]->port()};
        };
        std::vector<network::detour> detours{
            {.name = service_of(name), .server = service_of(server), .from = std::move(clients)}};
        indices all(options_.clients);
        std::iota(all.begin(), all.end(), std::size_t{0});
        for (std::size_t i = 0; i < nodes; ++i)
            if (server_of_[i] != i)
                detours.push_back(
                    {.name = service_of(i), .server = service_of(server_of_[i]), .from = all});
        machines_.set_detours(std::move(detours));
    }

    static void end_connections(support::redis_server& server) {
        for (const auto* kind : {"normal", "pubsub"})
            (void)server.execute({"CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"});
    }

    // Everything at once, with two nodes: each step of one meets any state of the other.
    void mix(pace& pace) {
        const auto victims = pick_for_losses(minority, pace);
        for (const auto each : victims)
            (void)node(each).execute({"SAVE"});
        const bool has_network = machines_.obstacle().empty();
        bool has_moved_clocks = false;
        for (auto steps = 3 + pace.pick(6); steps > 0; --steps) {
            const auto victim = victims[pace.pick(minority)];
            switch (pace.pick(6)) {
            case 0:
                if (has_network && pace.pick(2) == 0) {
                    machines_.heal();
                    machines_.isolate(servers_of(victims), pick_clients(pace), pace.pick(4) == 0);
                } else if (has_network) {
                    machines_.heal();
                }
                break;
            case 1:
                step_clock(victim, pace);
                has_moved_clocks = true;
                break;
            default: change_state(victim, pace);
            }
            pace.pause(0ms, 700ms);
        }
        if (has_network) machines_.heal();
        for (const auto each : victims)
            bring_back(each);
        if (has_moved_clocks) set_clocks_right(victims, pace);
    }

    // To any other state that it can have next.
    void change_state(std::size_t index, pace& pace) {
        auto& server = node(index);
        if (!server.is_running() || server.is_frozen()) {
            if (server.is_frozen() && pace.pick(3) == 0) return kill(index);
            return bring_back(index);
        }
        switch (pace.pick(4)) {
        case 0: return kill(index);
        case 1: return server.freeze();
        case 2: return load_saved(index);
        default: return flush_node(index);
        }
    }

    void bring_back(std::size_t index) {
        auto& server = node(index);
        if (server.is_frozen()) server.thaw();
        if (!server.is_running()) server.start(false);
    }

    // The set stops, and an operator begins a new one when nobody holds a lock any more.
    void forget_majority(pace& pace) {
        const auto first = pace.pick(nodes);
        indices victims;
        for (std::size_t i = 0; i <= minority; ++i)
            victims.push_back((first + i) % nodes);
        restart_empty(victims);
        const auto longest_lease = options_.longest_ttl * 6 / 5;
        pace.pause(longest_lease, longest_lease);
        begin_set("force", pace);
    }

    // A new set forms by itself.
    void forget_everything(pace&) { restart_empty({0, 1, 2, 3, 4}); }

    // All of them are down at the same time.
    void restart_empty(const indices& victims) {
        for (const auto each : victims)
            kill(each);
        for (const auto each : victims)
            node(each).start(false);
    }

    void begin_set(const std::string& how, pace& pace) {
        begin_set_from(machines_.of_client(0), url_, how, pace);
    }

    void recover(pace& pace) {
        std::vector<support::redis_server*> all;
        for (std::size_t i = 0; i < nodes; ++i)
            all.push_back(&node(i));
        wait_for_members(all, pace);
    }

    const environment_options options_;
    test_machines machines_;
    const server_list servers_;
    const std::string url_;
    state_watch<server_state> watch_;
    std::array<std::size_t, nodes> server_of_{};  // by the node whose name leads to it
    std::size_t spare_ = nodes;                   // the server without a name
    std::array<steady_clock::time_point, nodes> forgot_at_{};
    std::vector<memory_loss> losses_;
};

const std::array<fault_definition<redlock_environment>, 11> redlock_environment::definitions{
    {{.name = "crash", .run = &self::crash},
     {.name = "flush", .run = &self::flush},
     {.name = "pause", .run = &self::stop_and_continue},
     {.name = "old-data", .run = &self::restart_with_old_data},
     {.name = "roll-back", .run = &self::roll_back},
     {.name = "clock", .run = &self::move_clocks},
     {.name = "partition", .run = &self::isolate, .needs_network = true},
     {.name = "two-servers", .run = &self::share_name, .needs_network = true},
     {.name = "mixed", .run = &self::mix},
     {.name = "forget-majority", .run = &self::forget_majority, .is_by_name_only = true},
     {.name = "forget-all", .run = &self::forget_everything, .is_by_name_only = true}}};

}  // namespace

std::vector<std::string> redlock_faults() { return redlock_environment::fault_names(); }

std::unique_ptr<environment> start_redlock(const environment_options& options) {
    return std::make_unique<redlock_environment>(options);
}

}  // namespace real
