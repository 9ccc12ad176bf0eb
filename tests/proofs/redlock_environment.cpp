// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Independent servers for Redlock. Each fault strikes two of the five at most, so a majority always
// remembers; the next fault begins when all are members of the set again, but perhaps still in
// their quarantine. The faults that run by name only are the exceptions.
#include "environments.hpp"
#include "state_watch.hpp"
#include "test_machines.hpp"

#include <conformance/process.hpp>
#include <support/redlock_group.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace proofs {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t nodes = 5;
constexpr std::size_t minority = 2;

const support::command_words ask_for_membership{"HMGET", "pawl:redlock", "run",
                                                "nonce", "incarnation",  "highest"};
const std::vector<support::command_words> look{
    {"MULTI"}, {"INFO", "server"}, ask_for_membership, {"EXISTS", "pawl:redlock:q"}, {"EXEC"}};

std::string run_id_of(const std::string& info) {
    const std::string field = "\nrun_id:";
    const auto begin = info.find(field);
    if (begin == std::string::npos) return {};
    const auto value = begin + field.size();
    return info.substr(value, info.find('\r', value) - value);
}

struct membership {
    std::string run_id;
    std::string nonce;
    std::uint64_t incarnation = 0;
    bool is_member = false;  // since this start of the server
};

membership read_membership(const std::string& info, const support::resp_value& fields) {
    const auto text = [&](std::size_t index) { return fields.items.at(index).text; };
    membership result{.run_id = run_id_of(info), .nonce = text(1)};
    result.is_member = text(0) == result.run_id && !text(3).empty();
    if (result.is_member) result.incarnation = std::stoull(text(2));
    return result;
}

// For the history, a node's memory is a replication, and its incarnation the epoch.
std::optional<server_state> read_node(const look_replies& replies) {
    const auto& answers = replies.back().items;
    if (answers.size() != 3 || answers[1].items.size() != 4) return std::nullopt;
    const auto member = read_membership(answers[0].text, answers[1]);
    return server_state{.run_id = member.run_id,
                        .replication_id = member.nonce,
                        .is_master = true,
                        .is_serving = member.is_member && answers[2].number() == 0,
                        .epoch = member.incarnation};
}

class redlock_environment : public environment {
public:
    explicit redlock_environment(const environment_options& options)
        : options_(options),
          machines_(nodes, options.clients),
          group_(nodes, {}, machines_.of_servers()),
          url_(group_.url("?ttl_max=" + std::to_string(options.longest_ttl.count()))),
          watch_(unix_sockets(nodes, [this](std::size_t i) -> auto& { return group_.node(i); }),
                 look, &read_node) {
        pace start(0, [] {});
        begin_set("new", start);
    }

    [[nodiscard]] client_access access(token_source tokens) const override {
        client_access result{.url = url_};
        if (tokens == token_source::naive) result.counters = sockets_;
        return result;
    }

    [[nodiscard]] support::machine client_machine(std::size_t index) const override {
        return machines_.of_client(index);
    }

    [[nodiscard]] static std::vector<std::string> fault_names() { return names_of(definitions); }

    [[nodiscard]] std::vector<fault> faults() override {
        std::vector<fault> all;
        for (const auto& each : definitions)
            all.push_back({.name = each.name,
                           .run =
                               [this, run = each.run](pace& pace) {
                                   (this->*run)(pace);
                                   recover(pace);
                               },
                           .obstacle = each.needs_network ? machines_.obstacle() : std::string(),
                           .is_by_name_only = each.is_by_name_only});
        return all;
    }

    [[nodiscard]] std::vector<server_period> history() override {
        std::vector<server_period> result;
        for (std::size_t i = 0; i < nodes; ++i)
            for (const auto& each : watch_.periods(i))
                result.push_back({.server = name_of(group_.node(i)),
                                  .state = each.state,
                                  .from = each.from,
                                  .until = each.until});
        return result;
    }

    // Two of the five, but a majority may be all that has a hold.
    [[nodiscard]] std::vector<clock_step> clock_steps() override { return clock_steps_; }

    [[nodiscard]] std::vector<pid_t> server_processes() override {
        std::vector<pid_t> all;
        for (std::size_t i = 0; i < nodes; ++i)
            all.push_back(node(i).pid());
        return all;
    }

    [[nodiscard]] std::string logs() override {
        std::string text;
        for (std::size_t i = 0; i < nodes; ++i)
            text += end_of_log(group_.node(i));
        return text;
    }

private:
    using indices = std::vector<std::size_t>;
    using steady_clock = std::chrono::steady_clock;
    using self = redlock_environment;

    struct fault_definition {
        const char* name;
        void (self::*run)(pace&);
        bool needs_network = false;
        bool is_by_name_only = false;
    };
    static const std::array<fault_definition, 9> definitions;

    support::redis_server& node(std::size_t index) { return group_.node(index); }

    // One or two nodes.
    indices pick_minority(pace& pace) {
        std::set<std::size_t> all{pace.pick(nodes)};
        if (pace.pick(3) != 0) all.insert(pace.pick(nodes));
        return {all.begin(), all.end()};
    }

    // A clock that jumps forward ends leases, and a node that has forgotten a hold never restores
    // it. So the holds that began before must be over, or be at a majority of other nodes.
    indices pick_for_clocks(std::size_t count, pace& pace) {
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

    void step_clock(std::size_t index, pace& pace) {
        set_clock(index, pace.pick(2) == 0 ? pace.between(500ms, 8s) : -pace.between(500ms, 8s));
    }

    void set_clock(std::size_t index, std::chrono::microseconds ahead) {
        const auto amount = ahead - machines_.clock(index).wall_offset();
        const auto before = now();
        machines_.clock(index).step(amount);
        if (amount > 0us)
            clock_steps_.push_back(
                {.server = name_of(node(index)),
                 .at = {.earliest = before, .latest = now()},
                 .amount = std::chrono::duration_cast<std::chrono::milliseconds>(amount)});
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
        const auto victims = pick_for_clocks(1 + pace.pick(minority), pace);
        for (const auto each : victims)
            step_clock(each, pace);
        pace.pause(100ms, 2s);
        set_clocks_right(victims, pace);
    }

    // Two nodes or none, and any of the clients, are cut off, or send without being heard.
    void isolate(pace& pace) {
        const auto victims = pace.pick(4) == 0 ? indices() : pick_minority(pace);
        machines_.isolate(victims, pick_clients(pace), pace.pick(4) == 0);
        pace.pause(300ms, 4s);
        machines_.heal();
    }

    indices pick_clients(pace& pace) {
        indices clients;
        for (std::size_t i = 0; i < options_.clients; ++i)
            if (pace.pick(2) == 0) clients.push_back(i);
        return clients;
    }

    // Everything at once, with two nodes: each step of one meets any state of the other.
    void mix(pace& pace) {
        const auto victims = pick_for_clocks(minority, pace);
        const bool has_network = machines_.obstacle().empty();
        bool has_moved_clocks = false;
        for (auto steps = 3 + pace.pick(6); steps > 0; --steps) {
            const auto victim = victims[pace.pick(minority)];
            switch (pace.pick(6)) {
            case 0:
                if (has_network && pace.pick(2) == 0) {
                    machines_.heal();
                    machines_.isolate(victims, pick_clients(pace), pace.pick(4) == 0);
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
        switch (pace.pick(3)) {
        case 0: return kill(index);
        case 1: return server.freeze();
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

    // As an operator does it: again, if a node was away.
    void begin_set(const std::string& how, pace& pace) {
        using pawl::conformance::child;
        pace.until(
            [&] {
                auto options = pawl::conformance::launch_as_helper({"begin-set", url_, how});
                const auto machine = machines_.of_client(0);
                options.arguments.insert(options.arguments.begin(), machine.launcher.begin(),
                                         machine.launcher.end());
                child operation(options);
                const bool is_begun = operation.read_line(30s) == "begun";
                (void)operation.wait(30s);
                return is_begun;
            },
            "no new set begins");
    }

    void recover(pace& pace) {
        pace.until(
            [this] {
                for (std::size_t i = 0; i < nodes; ++i) {
                    const auto connection = node(i).connect();
                    const auto info = connection->execute({"INFO", "server"});
                    if (!read_membership(info.text, connection->execute(ask_for_membership))
                             .is_member)
                        return false;
                }
                return true;
            },
            "not all of them are members of the set");
    }

    const environment_options options_;
    test_machines machines_;
    support::redlock_group group_;
    const std::string url_;
    const std::vector<std::string> sockets_ =
        unix_sockets(nodes, [this](std::size_t i) -> auto& { return group_.node(i); });
    state_watch<server_state> watch_;
    std::array<steady_clock::time_point, nodes> forgot_at_{};
    std::vector<clock_step> clock_steps_;
};

const std::array<redlock_environment::fault_definition, 9> redlock_environment::definitions{
    {{.name = "crash", .run = &self::crash},
     {.name = "flush", .run = &self::flush},
     {.name = "pause", .run = &self::stop_and_continue},
     {.name = "old-data", .run = &self::restart_with_old_data},
     {.name = "clock", .run = &self::move_clocks},
     {.name = "partition", .run = &self::isolate, .needs_network = true},
     {.name = "mixed", .run = &self::mix},
     {.name = "forget-majority", .run = &self::forget_majority, .is_by_name_only = true},
     {.name = "forget-all", .run = &self::forget_everything, .is_by_name_only = true}}};

}  // namespace

std::vector<std::string> redlock_faults() { return redlock_environment::fault_names(); }

std::unique_ptr<environment> start_redlock(const environment_options& options) {
    return std::make_unique<redlock_environment>(options);
}

}  // namespace proofs
