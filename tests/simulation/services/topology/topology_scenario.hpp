// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks on servers that replace each other: what a cluster and Sentinels have in common. The
// servers and their faults are in the derived classes.
#pragma once

#include "../../server/simulated_network.hpp"
#include "../../world/world.hpp"
#include "hold_checker.hpp"
#include "topology_plan.hpp"

#include <pawl/redis.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

// Between two fsyncs of an append-only file.
inline constexpr auto longest_sync_pause = std::chrono::milliseconds(500);

class topology_scenario : public world {
protected:
    topology_scenario(const topology_plan& scenario_plan, bool tells_of_switches,
                      const trace::line_sink& sink);

    [[nodiscard]] virtual std::size_t server_count() const = 0;
    [[nodiscard]] virtual simulated_network& server(std::size_t number) = 0;
    [[nodiscard]] virtual bool is_replica(std::size_t number) const = 0;
    virtual void restart(std::size_t number) = 0;
    // The server that has the lock; null: none serves it, or they do not agree.
    [[nodiscard]] virtual simulated_network* server_of(const std::string& name) = 0;
    // The replicas of that server that have the lock with this token.
    [[nodiscard]] virtual std::size_t copies_of(const std::string& name, std::uint64_t token) = 0;
    // Nothing has changed for the lock since then, nor for a while before: neither its server nor,
    // in a cluster, its slot.
    [[nodiscard]] virtual bool is_settled(const std::string& name, instant since) = 0;
    // The time from which every connected program can know that the server which issued tokens of
    // this epoch was replaced. Nothing: not yet.
    [[nodiscard]] virtual std::optional<instant> replaced_at(std::uint64_t /*epoch*/) {
        return std::nullopt;
    }
    // The epoch of the server that has the lock.
    [[nodiscard]] virtual std::uint64_t epoch_of(const std::string& name) = 0;
    // One random fault of the servers, until it is over or will end by itself.
    virtual void disturb_servers() = 0;
    // All servers have their roles, and agree on them.
    [[nodiscard]] virtual bool is_agreed() = 0;
    // What an operator does after that.
    virtual void repair() {}

    [[nodiscard]] const std::vector<std::string>& names() const final;
    [[nodiscard]] hold_checker& holds() noexcept final { return holds_; }
    [[nodiscard]] bool has_lock_with(const simulated_redis::snapshot& data, const std::string& name,
                                     std::uint64_t token) const;
    // Call this when the servers exist: their clocks, their files, and the programs.
    void start();
    // Any subset of the links between the nodes, each in one direction.
    void cut_links(std::size_t nodes, const std::function<void(std::size_t, std::size_t)>& cut);
    void lose_a_replica();
    void cut_off(simulated_process& process) override;
    void reconnect(simulated_process& process) override;
    // One of the program's idle users acquires the lock; nothing happens if all are busy.
    void request(std::size_t number, const std::string& name);

    const topology_plan plan_;
    const redis::options options_;

private:
    void disturb() final;
    [[nodiscard]] bool recover() final;
    [[nodiscard]] instant longest_wait() const final { return std::chrono::seconds(30); }
    [[nodiscard]] lock_options choose(user& caller, attempt& made) final;
    void note(believed_hold& granted) final;
    void check_grant(const attempt& completed, const believed_hold& granted) final;
    void check_loss(const believed_hold& lost) final;
    void check_failure(const attempt& failed, const boost::system::error_code& ec) final;
    void observe_lock(const std::string& name, observation& seen) final;

    // Of what is stored beside a lock. Without scripts, an attempt that has failed may have taken a
    // later number.
    [[nodiscard]] bool is_token_of(const std::string& stored, std::uint64_t token) const;
    void check_durability(const attempt& completed, const believed_hold& hold);
    // Whether a loss, a lock of nobody, or a free lock can be expected to be noticed.
    [[nodiscard]] bool is_disturbed(const std::string& name);
    // Whether one of these holders knows of the loss too late. Returns whether there are any.
    [[nodiscard]] bool check_holders(const std::string& name, const std::string& token);
    // A request whose reply is lost is repeated after a pause.
    [[nodiscard]] instant allowance() const;
    [[nodiscard]] bool is_of_present_master(const believed_hold& hold);
    [[nodiscard]] bool is_wanted(const std::string& name) const;

    // When a master is replaced, each client hears of it.
    const bool tells_of_switches_;
    hold_checker holds_;
};

}  // namespace pawl::simulation
