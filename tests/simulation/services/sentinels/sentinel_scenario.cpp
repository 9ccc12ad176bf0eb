// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks at the master that Sentinels name. Failovers are planned, follow a crash or a pause of the
// master, or a partition; the old master goes on serving until a Sentinel makes it a replica.
#include "../scenarios.hpp"
#include "../topology/topology_scenario.hpp"

#include "../../server/sentinel_links.hpp"

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// How long the locks count as disturbed after a failover, or after the Sentinels disagreed.
constexpr auto master_settling_time = 1s;

class sentinel_scenario final : public topology_scenario {
public:
    sentinel_scenario(const topology_plan& scenario_plan, const trace::line_sink& sink)
        : topology_scenario(scenario_plan, true, sink),
          sentinels_(loop_, random_.fork(), plan_.network,
                     sentinels_plan{.replicas = plan_.replicas,
                                    .sentinels = random_.happens(0.3) ? 5u : 3u,
                                    .kept_connections = random_.happens(0.3) ? 0.5 : 0}) {
        sentinels_.on_promotion(
            [this](std::size_t server, std::size_t old_master, std::uint64_t epoch) {
                trace_.write("server " + std::to_string(server) + " replaces " +
                             std::to_string(old_master));
                changed_at_ = loop_.now();
                if (is_alone_) return;
                holds().note_promotion(names(), &sentinels_.network(old_master), epoch);
            });
        sentinels_.on_demotion([this](std::size_t server) {
            trace_.write("server " + std::to_string(server) + " is a replica now");
            holds().note_demotion(&sentinels_.network(server));
        });
        start();
    }

private:
    service connect(simulated_process& process) override {
        return monitored_service(sentinels_, process, options_, plan_.limits, plan_.bug);
    }
    std::size_t server_count() const override { return sentinels_.server_count(); }
    simulated_network& server(std::size_t number) override { return sentinels_.network(number); }
    bool is_replica(std::size_t number) const override { return sentinels_.is_replica(number); }
    void restart(std::size_t number) override { sentinels_.restart(number); }
    simulated_network* server_of(const std::string&) override {
        const auto master = sentinels_.master();
        return sentinels_.is_replica(master) ? nullptr : &sentinels_.network(master);
    }
    std::size_t copies_of(const std::string& name, std::uint64_t token) override {
        std::size_t copies = 0;
        for (std::size_t i = 0; i < sentinels_.server_count(); ++i)
            if (sentinels_.is_replica(i) && has_lock_with(sentinels_.replica_data(i), name, token))
                ++copies;
        return copies;
    }
    bool is_settled(const std::string&, instant since) override {
        if (!sentinels_.has_majority()) changed_at_ = loop_.now();
        return changed_at_ < 0ns || since - changed_at_ > master_settling_time;
    }

    std::optional<instant> replaced_at(std::uint64_t epoch) override {
        return sentinels_.has_majority_above(epoch);
    }

    std::uint64_t epoch_of(const std::string&) override { return sentinels_.epoch(); }

    void disturb_servers() override {
        if (plan_.failovers) replace_the_master();
        if (plan_.partitions && random_.happens(0.5)) {
            cut_links(server_count() + sentinels_.sentinel_count(),
                      [this](auto from, auto to) { sentinels_.cut(from, to); });
            sentinels_.heal();
        }
        if (plan_.loses_replicas) lose_a_replica();
        if (plan_.loses_power) lose_power();
    }
    //   planned | the master dies, and comes back | it is stopped, goes on as a master, and
    //   executes what has arrived meanwhile | no Sentinel reaches it, but the programs do | two
    //   planned failovers, and in between one Sentinel hears nothing | one Sentinel that hears
    //   nothing promotes a replica
    void replace_the_master() {
        const auto master = sentinels_.master();
        const auto kind = random_.below(6);
        trace_.write("fault " + std::to_string(kind) + " of master " + std::to_string(master));
        switch (kind) {
        case 0: return fail_over();
        case 5: return promote_alone(master);
        case 1:
            sentinels_.kill(master);
            loop_.run_for(random_.between(500ms, 5s));
            return sentinels_.restart(master);
        case 2:
            sentinels_.network(master).freeze();
            loop_.run_for(random_.between(500ms, 5s));
            return sentinels_.network(master).thaw();
        case 3:
            for (std::size_t i = 0; i < sentinels_.sentinel_count(); ++i)
                sentinels_.cut(sentinels_.node_of_sentinel(i), master);
            loop_.run_for(random_.between(1s, 5s));
            return sentinels_.heal();
        default: return isolate_a_sentinel();
        }
    }
    // For a shorter time than the Sentinels need to notice it.
    void lose_power() {
        const auto master = sentinels_.master();
        auto& network = sentinels_.network(master);
        if (sentinels_.is_replica(master) || !network.is_up()) return;
        trace_.write("master " + std::to_string(master) + " loses power");
        holds().note_promotion(names(), &network);
        sentinels_.kill(master);
        loop_.run_for(random_.between(10ms, 300ms));
        network.start_server(network.synced_data());
        holds().note_power_loss();
        changed_at_ = loop_.now();
        loop_.run_for(1s);
        holds().note_demotion(&network);
    }
    void fail_over() {
        static_cast<void>(sentinels_.fail_over(random_.below(sentinels_.sentinel_count())));
    }
    // It keeps an old configuration, and goes on answering the programs.
    void isolate_a_sentinel() {
        const auto isolated = random_.below(sentinels_.sentinel_count());
        const auto other = (isolated + 1) % sentinels_.sentinel_count();
        sentinels_.isolate_sentinel(isolated);
        static_cast<void>(sentinels_.fail_over(other));
        loop_.run_for(random_.between(500ms, 6s));
        sentinels_.heal();
    }
    // Nothing excuses a client that follows it, until the others hear of it and agree.
    void promote_alone(std::size_t master) {
        const auto isolated = random_.below(sentinels_.sentinel_count());
        const auto own = sentinels_.node_of_sentinel(isolated);
        for (std::size_t i = 0; i < sentinels_.sentinel_count(); ++i) {
            sentinels_.cut(own, sentinels_.node_of_sentinel(i));
            sentinels_.cut(sentinels_.node_of_sentinel(i), own);
        }
        sentinels_.cut(own, master);
        is_alone_ = true;
        const bool is_promoted = sentinels_.fail_over(isolated);
        is_alone_ = false;
        if (is_promoted) loop_.run_for(random_.between(500ms, 4s));
        if (is_promoted)
            holds().note_promotion(names(), &sentinels_.network(master), sentinels_.epoch());
        sentinels_.heal();
    }
    void cut_off(simulated_process& process) override {
        topology_scenario::cut_off(process);
        for (std::size_t i = 0; i < sentinels_.sentinel_count(); ++i)
            if (random_.happens(0.5)) sentinels_.cut_off(process, i);
    }
    void reconnect(simulated_process& process) override {
        topology_scenario::reconnect(process);
        sentinels_.heal_programs();
    }
    void stop_faults() override { sentinels_.stop_faults(); }
    bool is_agreed() override { return sentinels_.is_agreed(); }

    simulated_sentinels sentinels_;
    instant changed_at_{-1};
    bool is_alone_ = false;  // the Sentinel that promotes
};

}  // namespace

scenario_result run_sentinel_scenario(std::uint64_t seed, topology_bug bug,
                                      const trace::line_sink& sink) {
    set_current_seed(seed);
    const auto plan = make_topology_plan(seed, named_topology_bug::place::sentinels, bug);
    return sentinel_scenario(plan, sink).run(scenario_kind::sentinels);
}

}  // namespace pawl::simulation
