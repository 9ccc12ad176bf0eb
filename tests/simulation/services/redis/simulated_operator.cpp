// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_operator.hpp"

#include "../../java/java_scripts.hpp"
#include "simulated_user.hpp"

#include <string>
#include <utility>

namespace pawl::simulation {

void simulated_operator::repair(bool faults_ended) {
    if (!network_.is_up()) return;
    if (plan_.has_fair_lock)
        for (const auto& space : spaces_)
            repair_queue(space);
    if (plan_.has_endless_permits)
        for (const auto& space : spaces_)
            return_permits(space);
    if (plan_.has_plain_semaphore) repair_semaphores(faults_ended);
}

// A thread of a Java program that is dead, or that got an exception, keeps its place in a fair
// lock's queue for five minutes. The operator removes it, as docs/backends/redisson.md advises.
void simulated_operator::repair_queue(const key_space& space) {
    const auto places = invariants_.abandoned(space.checker_name(fair_name));
    if (places.empty()) return;
    const auto keys = keys_in(space, fair_name);
    std::vector<words> commands;
    for (const auto& owner : places) {
        commands.push_back({"LREM", keys.queue, "0", owner});
        commands.push_back({"ZREM", keys.waiters, owner});
    }
    execute(space, commands);
}

// A permit without a lease stays lent if its thread is dead, or got an exception. The operator
// releases it by its id, as docs/backends/redisson.md advises.
void simulated_operator::return_permits(const key_space& space) {
    const auto permits = invariants_.abandoned(space.checker_name(semaphore_name));
    const auto keys = keys_in(space, semaphore_name);
    const auto now_ms = std::to_string(network_.wall_us() / 1000);
    const auto channel = "redisson_sc:{" + std::string(semaphore_name) + "}";
    std::vector<words> commands;
    for (const auto& id : permits)
        commands.push_back({"EVAL", text_of(java_script::permits_release), "3", keys.lock, channel,
                            keys.details, id, "1", now_ms, publish_command()});
    if (!commands.empty()) execute(space, commands);
}

// A Semaphore's permits are lost if their holder dies, or if Java gets no reply. The operator adds
// them again when no late request can return them.
void simulated_operator::repair_semaphores(bool faults_ended) {
    // A server without memory refuses to add permits.
    const bool may_be_refused = !plan_.has_calm_network || plan_.servers.front().runs_out_of_memory;
    if (!faults_ended && may_be_refused) return;
    std::set<const program*> ended;
    for (const auto& program : programs_) {
        const bool has_ended =
            !program->is_alive() || (faults_ended && program->is_java() && program->has_finished());
        if (!has_ended) continue;
        ended.insert(program.get());
        if (!ended_programs_.contains(program.get())) continue;
        const auto& space = program->context().space;
        add_permits(space, invariants_.forget_lost_permits(space.checker_name(plain_semaphore_name),
                                                           program->process));
    }
    ended_programs_ = std::move(ended);
}

void simulated_operator::add_permits(const key_space& space, std::int64_t permits) {
    if (permits == 0) return;
    const std::string name(plain_semaphore_name);
    execute(space, {{"EVAL", text_of(java_script::semaphore_add), "2", name,
                     "redisson_sc:{" + name + "}", std::to_string(permits), publish_command()}});
}

std::string simulated_operator::publish_command() const {
    return plan_.is_cluster_node ? "SPUBLISH" : "PUBLISH";
}

void simulated_operator::execute(const key_space& space, const std::vector<words>& commands) {
    network_.change_data([&](simulated_redis& server) {
        static_cast<void>(server.execute(0, {"SELECT", std::to_string(space.options.database)}));
        for (const auto& command : commands)
            static_cast<void>(server.execute(0, command));
    });
}

}  // namespace pawl::simulation
