// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs injected into the client of a cluster or of Sentinels, to show that the scenarios of these
// topologies find them. Most are in the links to the servers.
#pragma once

#include <redis/topology/topology.hpp>
#include <redis/transport/link.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace pawl::simulation {

enum class topology_bug : std::uint8_t {
    none,
    // In a cluster.
    epochs_left_out,           // every view has epoch 0, and so have the tokens
    epochs_of_other_nodes,     // each node has the epoch of the master listed after it
    stale_epochs_believed,     // the first epoch of each node is used for ever
    view_never_renewed,        // only the first view of each node is read
    moved_taken_as_refusal,    // the caller gets the error of a slot that has moved
    try_again_taken_as_final,  // the caller gets the error while a slot moves
    cluster_down_taken_as_final,
    requests_mix_nodes,        // keys of several slots in one request
    replication_not_compared,  // a script takes the epoch that the client knows, although its node
                               // was a replica since then
    ask_taken_as_final,        // the caller gets the error of a key that has moved
    asking_not_sent,           // so the node to which the key has moved refuses
    replicas_forgotten,        // so only masters are asked for the nodes, and the URL's hosts
    releases_ended_by_move,    // a release that a slot's old node refuses is not repeated
    // With Sentinels.
    epoch_left_out,         // the tokens have no epoch,
    epoch_kept,             // or that of the first master for ever
    one_sentinel_decides,   // each client believes the first Sentinel that it asks
    read_only_ignored,      // the caller gets the error of a server that is a replica now
    announcements_ignored,  // +switch-master
    holds_not_renewed_after_switch,
    refusals_ignored_after_switch,  // a renewal that the new master refuses counts as a success
    renewals_at_old_master,         // the server before the last switch gets the renewals,
    releases_at_old_master,         // or the releases,
    undos_at_old_master,            // or the undos
    // In the durability of a grant, with either.
    wait_not_counted,      // the number in the reply to WAIT does not matter
    any_replica_suffices,  // one replica is enough, as for Redisson,
    master_counts_as_copy,
    wait_without_write,  // nothing is written over the connection that waits
    sync_not_counted     // the number of files in the reply to WAITAOF does not matter
};

struct named_topology_bug {
    enum class place : std::uint8_t { cluster, sentinels };
    topology_bug bug;
    std::string_view name;
    place where;
};

inline constexpr std::array topology_bugs{
#define PAWL_BUG(name, where) \
    named_topology_bug{topology_bug::name, #name, named_topology_bug::place::where}
    PAWL_BUG(epochs_left_out, cluster),
    PAWL_BUG(epochs_of_other_nodes, cluster),
    PAWL_BUG(stale_epochs_believed, cluster),
    PAWL_BUG(view_never_renewed, cluster),
    PAWL_BUG(moved_taken_as_refusal, cluster),
    PAWL_BUG(try_again_taken_as_final, cluster),
    PAWL_BUG(cluster_down_taken_as_final, cluster),
    PAWL_BUG(requests_mix_nodes, cluster),
    PAWL_BUG(replication_not_compared, cluster),
    PAWL_BUG(ask_taken_as_final, cluster),
    PAWL_BUG(asking_not_sent, cluster),
    PAWL_BUG(replicas_forgotten, cluster),
    PAWL_BUG(releases_ended_by_move, cluster),
    PAWL_BUG(epoch_left_out, sentinels),
    PAWL_BUG(epoch_kept, sentinels),
    PAWL_BUG(one_sentinel_decides, sentinels),
    PAWL_BUG(read_only_ignored, sentinels),
    PAWL_BUG(announcements_ignored, sentinels),
    PAWL_BUG(holds_not_renewed_after_switch, sentinels),
    PAWL_BUG(refusals_ignored_after_switch, sentinels),
    PAWL_BUG(renewals_at_old_master, sentinels),
    PAWL_BUG(releases_at_old_master, sentinels),
    PAWL_BUG(undos_at_old_master, sentinels),
    PAWL_BUG(wait_not_counted, sentinels),
    PAWL_BUG(any_replica_suffices, cluster),
    PAWL_BUG(master_counts_as_copy, cluster),
    PAWL_BUG(wait_without_write, sentinels),
    PAWL_BUG(sync_not_counted, sentinels),
#undef PAWL_BUG
};

// The link with the bug, or the link itself.
[[nodiscard]] std::shared_ptr<redis::link> inject_link_bug(topology_bug bug,
                                                           std::shared_ptr<redis::link> into);
// The topology with the bug, or the topology itself.
[[nodiscard]] redis::topology_factory inject_topology_bug(topology_bug bug,
                                                          redis::topology_factory into);
// What the server before the last switch answers, if the bug sends this request there.
[[nodiscard]] std::optional<redis::reply> answer_of_old_master(
    topology_bug bug, std::span<const std::string_view> words);
// Changes the new master's answer after a switch.
void change_answer_after_switch(topology_bug bug, std::span<const std::string> words,
                                redis::reply& answer);

}  // namespace pawl::simulation
