// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A master with its replicas, and the Sentinels that watch them. Each server has a network of its
// own to the programs. The rules are those of Redis' sentinel.c: a vote for each epoch, a majority
// for each failover by itself, the newest configuration wins, and a server that wrongly says it is
// a master becomes a replica after a while.
#pragma once

#include "simulated_network.hpp"

#include <redis/transport/link.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

struct sentinels_plan {
    std::size_t replicas = 2;
    std::size_t sentinels = 3;
    instant down_after = std::chrono::milliseconds(600);
    instant check_pause_high = std::chrono::milliseconds(150);
    instant gossip_delay_high = std::chrono::milliseconds(300);
    // Of a master that becomes a replica: an operator did it by hand, and its connections go on.
    double kept_connections = 0;
    instant replication_lag_high = std::chrono::milliseconds(500);
    // How long a server says that it is a master before a Sentinel makes it a replica.
    instant demotion_delay_high = std::chrono::seconds(4);
};

class simulated_sentinels {
public:
    static constexpr std::uint16_t first_server_port = 6379;
    static constexpr std::uint16_t first_sentinel_port = 26379;
    static constexpr std::string_view master_name = "locks";

    simulated_sentinels(scheduler& loop, prng random, const network_faults& faults,
                        const sentinels_plan& plan);

    [[nodiscard]] std::size_t server_count() const noexcept { return servers_.size(); }
    [[nodiscard]] std::size_t sentinel_count() const noexcept { return sentinels_.size(); }
    [[nodiscard]] simulated_network& network(std::size_t server) {
        return servers_.at(server)->network;
    }
    // By the newest configuration of a Sentinel.
    [[nodiscard]] std::size_t master() const;
    [[nodiscard]] std::uint64_t epoch() const { return sentinels_[newest()].epoch; }
    [[nodiscard]] bool is_replica(std::size_t server) const {
        return servers_.at(server)->is_replica;
    }
    // The data that a replica has of its master, as far as it knows.
    [[nodiscard]] const simulated_redis::snapshot& replica_data(std::size_t server) const {
        return servers_.at(server)->replicated;
    }
    // A majority of the Sentinels has the newest configuration.
    [[nodiscard]] bool has_majority() const;
    // When a majority had a configuration with a greater epoch for the first time; nothing: never.
    [[nodiscard]] std::optional<instant> has_majority_above(std::uint64_t epoch) const;
    // All Sentinels have it, and each server has its role.
    [[nodiscard]] bool is_agreed() const;

    // SENTINEL FAILOVER at this Sentinel, which asks no other one. False: it refuses.
    bool fail_over(std::size_t sentinel);
    void kill(std::size_t server) { network(server).stop_server(); }
    void restart(std::size_t server);
    // The nodes are the servers, and after them the Sentinels. One way: from the first to the
    // second.
    void cut(std::size_t from, std::size_t to) { cut_.insert({from, to}); }
    [[nodiscard]] std::size_t node_of_sentinel(std::size_t sentinel) const noexcept {
        return servers_.size() + sentinel;
    }
    void isolate_sentinel(std::size_t sentinel);
    // The link between a program and a Sentinel.
    void cut_off(const simulated_process& process, std::size_t sentinel) {
        cut_programs_.insert({&process, sentinel});
    }
    // Ends all cuts between the nodes, and those between programs and Sentinels.
    void heal() { cut_.clear(); }
    void heal_programs();
    void stop_faults();

    // The side of a program's link to a Sentinel.
    class subscriber {
    public:
        virtual ~subscriber() = default;
        virtual simulated_process& process() = 0;
        virtual void on_announcement(std::string payload) = 0;
        virtual void on_reconnected() = 0;
    };
    void subscribe(std::size_t sentinel, const std::shared_ptr<subscriber>& added);
    [[nodiscard]] bool reaches(const simulated_process& process, std::size_t sentinel) const {
        return !cut_programs_.contains({&process, sentinel});
    }
    [[nodiscard]] redis::reply answer(std::size_t sentinel,
                                      std::span<const std::string> command) const;

    // Called when a server becomes the master, with the earlier one and the new epoch.
    void on_promotion(std::function<void(std::size_t, std::size_t, std::uint64_t)> promoted) {
        promoted_ = std::move(promoted);
    }
    // Called when a server has become a replica.
    void on_demotion(std::function<void(std::size_t)> demoted) { demoted_ = std::move(demoted); }

private:
    struct server_state {
        server_state(scheduler& loop, prng random, const network_faults& faults, std::string label)
            : network(loop, random, faults, std::move(label)) {}
        simulated_network network;
        bool is_replica = true;
        // As a replica: of which master, and the number of its writes that this server has.
        std::size_t master = 0;
        simulated_redis::snapshot replicated{};
        std::uint64_t replicated_writes = 0;
        bool is_synced = false;
        int replication = 0;       // grows when it gets another master, or none
        instant last_data{};       // data arrive in order
        instant claims_since{-1};  // says that it is the master, against a configuration
        instant demoted_after{};
    };
    struct sentinel_state {
        std::size_t master = 0;
        std::uint64_t epoch = 0;          // of the configuration
        std::uint64_t current_epoch = 0;  // the highest that it has heard of
        std::uint64_t voted_epoch = 0;
        std::vector<instant> heard;  // when each server answered last
        instant election_at{-1};
        std::vector<std::weak_ptr<subscriber>> subscribers;
    };

    [[nodiscard]] bool is_connected(std::size_t a, std::size_t b) const {
        return !cut_.contains({a, b}) && !cut_.contains({b, a});
    }
    // A frozen server answers nobody.
    [[nodiscard]] bool answers(std::size_t sentinel, std::size_t server) const;
    [[nodiscard]] bool is_down(std::size_t sentinel, std::size_t server) const;
    [[nodiscard]] std::size_t newest() const;
    void watch(std::size_t sentinel);
    void check(std::size_t sentinel);
    void gossip(std::size_t sentinel);
    void adopt(std::size_t sentinel, std::size_t master, std::uint64_t epoch);
    [[nodiscard]] bool wins_election(std::size_t sentinel, std::uint64_t epoch);
    // The best replica that the Sentinel reaches; server_count() if there is none.
    [[nodiscard]] std::size_t best_replica(std::size_t sentinel) const;
    bool promote(std::size_t sentinel, std::uint64_t epoch);
    void demote(std::size_t server, std::size_t master);
    void demote_wrong_masters(std::size_t sentinel);
    void replicate(std::size_t replica);
    [[nodiscard]] redis::reply describe_master(const sentinel_state& of) const;
    [[nodiscard]] redis::reply describe_others(std::size_t asked) const;

    scheduler& loop_;
    prng random_;
    const sentinels_plan plan_;
    std::vector<std::unique_ptr<server_state>> servers_;
    std::vector<sentinel_state> sentinels_;
    std::map<std::uint64_t, instant> majorities_;  // by the epoch of the configuration
    std::set<std::pair<std::size_t, std::size_t>> cut_;
    std::set<std::pair<const simulated_process*, std::size_t>> cut_programs_;
    std::function<void(std::size_t, std::size_t, std::uint64_t)> promoted_;
    std::function<void(std::size_t)> demoted_;
};

}  // namespace pawl::simulation
