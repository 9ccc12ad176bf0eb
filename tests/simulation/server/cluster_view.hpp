// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What one node of a simulated cluster knows about all nodes, and the rules of Redis' cluster.c by
// which it serves and redirects commands, and learns from the messages of other nodes. The nodes
// and their bus are in simulated_cluster.hpp.
#pragma once

#include "served_slots.hpp"
#include "slots.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

class cluster_view final : public served_slots {
public:
    using slot_set = std::bitset<slot_count>;
    static constexpr std::size_t no_node = 255;

    // What a node tells others, of itself or of another node: of a replica, the epoch and the slots
    // are its master's.
    struct message {
        std::size_t subject = 0;
        std::size_t master = no_node;  // of a replica
        std::uint64_t current_epoch = 0;
        std::uint64_t epoch = 0;
        std::shared_ptr<const slot_set> slots;
        bool is_update = false;  // told by another node than the subject
    };
    // What a message has changed for the node that received it.
    struct change {
        std::vector<std::size_t> lost_slots;  // its keys there are deleted, unless it is a replica
        bool has_new_master = false;
        std::optional<std::size_t> update;  // the sender must be told about this node
    };

    // Node i listens on port first_port + i. At first all are masters without slots.
    cluster_view(std::size_t self, std::size_t node_count);

    // The start of a cluster.
    void set_epoch(std::size_t node, std::uint64_t epoch);
    void assign(std::size_t first_slot, std::size_t last_slot, std::size_t owner);
    void replicate(std::size_t replica, std::size_t master);

    // Messages.
    [[nodiscard]] message own_state() const;
    [[nodiscard]] message update_about(std::size_t node) const;
    [[nodiscard]] change receive(const message& news);
    void set_failing(std::size_t node, bool failing) { members_.at(node).is_failing = failing; }
    [[nodiscard]] bool is_failing(std::size_t node) const { return members_.at(node).is_failing; }
    // A node that does not serve: it reaches no majority, or slots have no node.
    void set_down(bool down) noexcept { is_down_ = down; }

    // The operator.
    void import_from(std::size_t slot, std::size_t node);
    void migrate_to(std::size_t slot, std::size_t node);
    void end_move(std::size_t slot);
    void close_moves();
    // CLUSTER SETSLOT NODE. Does nothing at an owner that has keys of the slot.
    void set_owner(std::size_t slot, std::size_t node, bool has_keys);
    // A replica replaces its master: with the epoch of an election, or with one that it chooses.
    void win_election(std::uint64_t epoch);
    void take_over();
    void renew_replication_id() { ++replication_number_; }
    // The node votes for this epoch.
    void see_epoch(std::uint64_t epoch) noexcept {
        current_epoch_ = std::max(current_epoch_, epoch);
    }

    [[nodiscard]] std::size_t owner_of(std::size_t slot) const noexcept { return owners_[slot]; }
    [[nodiscard]] bool is_master(std::size_t node) const {
        return members_.at(node).master == no_node;
    }
    [[nodiscard]] bool is_master() const { return is_master(self_); }
    [[nodiscard]] std::size_t master() const { return members_.at(self_).master; }
    [[nodiscard]] bool is_down() const noexcept { return is_down_; }
    [[nodiscard]] std::uint64_t epoch_of(std::size_t node) const;
    [[nodiscard]] std::uint64_t current_epoch() const noexcept { return current_epoch_; }
    [[nodiscard]] std::size_t slots_of(std::size_t node) const noexcept;
    // Grows with each change.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

    [[nodiscard]] std::string refusal(const query& asked, store& data) const override;
    [[nodiscard]] redis::reply answer(std::span<const std::string> command) const override;
    [[nodiscard]] static std::string id_of(std::size_t node);
    static constexpr std::uint16_t first_port = 7001;

private:
    unsigned replication_number_ = 0;
    struct member {
        std::size_t master = no_node;  // of a replica
        std::uint64_t epoch = 0;
        bool is_failing = false;
    };

    void become_replica_of(std::size_t master);
    void replace_master();
    bool choose_higher_epoch();
    void learn_role(const message& news);
    void learn_slots(const message& news, std::size_t claimant, change& result);
    void resolve_collision(std::size_t node);
    void set_slot(std::size_t slot, std::size_t node);
    [[nodiscard]] message describe(std::size_t node, std::size_t slots_from) const;
    [[nodiscard]] std::string nodes_text() const;
    [[nodiscard]] std::string replication_text() const;
    [[nodiscard]] std::string line_of(std::size_t node) const;
    [[nodiscard]] std::string slots_text(std::size_t node) const;
    [[nodiscard]] std::string info_text() const;
    void note_change() {
        ++version_;
        own_slots_.reset();
    }

    const std::size_t self_;
    std::vector<member> members_;
    std::array<std::uint8_t, slot_count> owners_;
    std::map<std::size_t, std::size_t> importing_, migrating_;  // slot to node
    std::uint64_t current_epoch_ = 0;
    bool is_down_ = false;
    std::uint64_t version_ = 1;
    mutable std::array<std::uint32_t, no_node + 1> slot_counts_{};
    mutable std::uint64_t counted_version_ = 0;
    mutable std::vector<std::string> slot_texts_;  // by node, for `slots_text`
    mutable std::uint64_t listed_version_ = 0;
    mutable std::shared_ptr<const slot_set> own_slots_;  // of the node, or of its master
    // The last slots of each node that changed nothing, at which version.
    std::vector<std::pair<std::shared_ptr<const slot_set>, std::uint64_t>> known_slots_;
};

}  // namespace pawl::simulation
