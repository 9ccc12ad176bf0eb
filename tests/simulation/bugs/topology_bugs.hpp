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
    epochs_left_out,             // every view has epoch 0, and so have the tokens
    epochs_of_other_nodes,       // each node has the epoch of the master listed after it
    stale_epochs_believed,       // the first epoch of each node is used for ever
    epoch_below_counter,         // the epoch is added to the low bits of the counter
    replication_not_compared,    // an old epoch is used although the node was a replica meanwhile
    view_never_renewed,          // only the first view of each node is read
    moved_taken_as_refusal,      // the caller gets the error of a slot that has moved
    moved_followed_without_map,  // the request follows, but the map of the slots stays old
    ask_taken_as_moved,          // one key of a slot that still moves changes the whole map
    asking_left_out,             // the redirected request comes without ASKING
    try_again_taken_as_final,    // the caller gets the error while a slot moves
    try_again_taken_for_loss,    // a renewal that the nodes refuse meanwhile loses the hold
    cluster_down_taken_as_final,
    undo_ended_by_move,         // MOVED counts as the end of an undo,
    release_ended_by_move,      // or of a release
    waiters_not_told_of_moves,  // the waiters of a slot that has moved are not told
    requests_mix_nodes,         // keys of several slots in one request
    // With Sentinels.
    epoch_left_out,          // the tokens have no epoch
    one_sentinel_decides,    // the first Sentinel's answer counts as that of all
    announcements_ignored,   // +switch-master
    location_not_confirmed,  // the Sentinels are not asked again after the handshake
    epoch_asked_once,        // not again after the address
    replica_taken_for_master,
    read_only_ignored,
    holds_not_renewed_after_switch,
    renewals_at_old_master,  // the server before the last switch gets the renewals,
    releases_at_old_master,  // or the releases,
    undos_at_old_master,     // or the undos
    // In the durability of a grant, with either.
    wait_not_counted,      // the number in the reply to WAIT does not matter
    any_replica_suffices,  // one replica is enough, as for Redisson
    wait_without_write     // nothing is written over the connection that waits
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
    PAWL_BUG(epoch_below_counter, cluster),
    PAWL_BUG(replication_not_compared, cluster),
    PAWL_BUG(view_never_renewed, cluster),
    PAWL_BUG(moved_taken_as_refusal, cluster),
    PAWL_BUG(moved_followed_without_map, cluster),
    PAWL_BUG(ask_taken_as_moved, cluster),
    PAWL_BUG(asking_left_out, cluster),
    PAWL_BUG(try_again_taken_as_final, cluster),
    PAWL_BUG(try_again_taken_for_loss, cluster),
    PAWL_BUG(cluster_down_taken_as_final, cluster),
    PAWL_BUG(undo_ended_by_move, cluster),
    PAWL_BUG(release_ended_by_move, cluster),
    PAWL_BUG(waiters_not_told_of_moves, cluster),
    PAWL_BUG(requests_mix_nodes, cluster),
    PAWL_BUG(epoch_left_out, sentinels),
    PAWL_BUG(one_sentinel_decides, sentinels),
    PAWL_BUG(announcements_ignored, sentinels),
    PAWL_BUG(location_not_confirmed, sentinels),
    PAWL_BUG(epoch_asked_once, sentinels),
    PAWL_BUG(replica_taken_for_master, sentinels),
    PAWL_BUG(read_only_ignored, sentinels),
    PAWL_BUG(holds_not_renewed_after_switch, sentinels),
    PAWL_BUG(renewals_at_old_master, sentinels),
    PAWL_BUG(releases_at_old_master, sentinels),
    PAWL_BUG(undos_at_old_master, sentinels),
    PAWL_BUG(wait_not_counted, sentinels),
    PAWL_BUG(any_replica_suffices, cluster),
    PAWL_BUG(wait_without_write, sentinels),
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

}  // namespace pawl::simulation
