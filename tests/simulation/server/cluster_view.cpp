// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_view.hpp"

#include "replies.hpp"

#include <algorithm>
#include <utility>

namespace pawl::simulation {
namespace {

std::string address_of(std::size_t node) {
    return "127.0.0.1:" + std::to_string(cluster_view::first_port + node);
}

std::string redirection(const char* kind, std::size_t slot, std::size_t node) {
    return std::string(kind) + " " + std::to_string(slot) + " " + address_of(node);
}

}  // namespace

cluster_view::cluster_view(std::size_t self, std::size_t node_count)
    : self_(self), members_(node_count), known_slots_(node_count) {
    owners_.fill(no_node);
}

void cluster_view::set_epoch(std::size_t node, std::uint64_t epoch) {
    members_.at(node).epoch = epoch;
    see_epoch(epoch);
    note_change();
}

void cluster_view::assign(std::size_t first_slot, std::size_t last_slot, std::size_t owner) {
    for (auto slot = first_slot; slot <= last_slot; ++slot)
        set_slot(slot, owner);
}

void cluster_view::replicate(std::size_t replica, std::size_t master) {
    members_.at(replica).master = master;
    note_change();
}

void cluster_view::set_slot(std::size_t slot, std::size_t node) {
    owners_[slot] = static_cast<std::uint8_t>(node);
    note_change();
}

std::uint64_t cluster_view::epoch_of(std::size_t node) const {
    const auto& of = members_.at(node);
    return of.master == no_node ? of.epoch : members_.at(of.master).epoch;
}

std::size_t cluster_view::slots_of(std::size_t node) const noexcept {
    if (counted_version_ != version_) {
        slot_counts_.fill(0);
        for (const auto owner : owners_)
            ++slot_counts_[owner];
        counted_version_ = version_;
    }
    return slot_counts_[node];
}

std::string cluster_view::id_of(std::size_t node) {
    constexpr std::string_view digits = "abcdef0123456789";
    return std::string(39, digits.at(node)) + std::to_string(node % 10);
}

cluster_view::message cluster_view::describe(std::size_t node, std::size_t slots_from) const {
    auto slots = std::make_shared<slot_set>();
    for (std::size_t slot = 0; slot < slot_count; ++slot)
        if (owners_[slot] == slots_from) slots->set(slot);
    return {node, members_[node].master, current_epoch_, members_[slots_from].epoch,
            std::move(slots)};
}

cluster_view::message cluster_view::own_state() const {
    const auto described = is_master() ? self_ : master();
    if (!own_slots_) own_slots_ = describe(self_, described).slots;
    return {self_, master(), current_epoch_, members_[described].epoch, own_slots_};
}

cluster_view::message cluster_view::update_about(std::size_t node) const {
    auto result = describe(node, node);
    result.is_update = true;
    return result;
}

cluster_view::change cluster_view::receive(const message& news) {
    change result;
    see_epoch(news.current_epoch);
    auto& subject = members_.at(news.subject);
    if (news.subject == self_ || (news.is_update && subject.epoch >= news.epoch)) return result;
    if (news.epoch > subject.epoch) set_epoch(news.subject, news.epoch);
    see_epoch(news.epoch);
    learn_role(news);
    auto& [known, at_version] = known_slots_[news.subject];
    if (known == news.slots && at_version == version_) return result;
    const auto claimant = news.master == no_node ? news.subject : news.master;
    learn_slots(news, claimant, result);
    if (is_master() && news.master == no_node && members_[self_].epoch == news.epoch)
        resolve_collision(news.subject);
    if (result.update) return result;
    known = news.slots;
    at_version = version_;
    return result;
}

void cluster_view::learn_role(const message& news) {
    auto& subject = members_[news.subject];
    if (subject.master == news.master) return;
    // A master that became a replica has no slots any more.
    if (subject.master == no_node && news.master != no_node)
        for (auto& owner : owners_)
            if (owner == news.subject) owner = no_node;
    subject.master = news.master;
    note_change();
    const bool was_own_master = !is_master() && master() == news.subject;
    if (was_own_master && news.master != no_node && news.master != self_)
        become_replica_of(news.master);
}

// `news` has the slots of the claimant. A greater epoch wins; a smaller one must be told.
void cluster_view::learn_slots(const message& news, std::size_t claimant, change& result) {
    const auto own_master = is_master() ? self_ : master();
    bool lost_to_claimant = false;
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
        const std::size_t owner = owners_[slot];
        if (!news.slots->test(slot) || owner == claimant) continue;
        const bool is_newer = owner == no_node || members_[owner].epoch < news.epoch;
        if (owner != no_node && !news.is_update && members_[owner].epoch > news.epoch)
            result.update = owner;
        if (news.master != no_node || !is_newer || importing_.contains(slot)) continue;
        if (owner == self_) {
            result.lost_slots.push_back(slot);
            migrating_.erase(slot);
        }
        lost_to_claimant = lost_to_claimant || owner == own_master;
        set_slot(slot, claimant);
    }
    if (!lost_to_claimant || slots_of(own_master) > 0 || claimant == self_) return;
    become_replica_of(claimant);
    result.has_new_master = true;
}

void cluster_view::become_replica_of(std::size_t master) {
    importing_.clear();
    migrating_.clear();
    members_[self_].master = master;
    note_change();
}

// Two masters with one epoch: the one with the smaller id takes another.
void cluster_view::resolve_collision(std::size_t node) {
    if (id_of(node) <= id_of(self_)) return;
    members_[self_].epoch = ++current_epoch_;
    note_change();
}

void cluster_view::import_from(std::size_t slot, std::size_t node) { importing_[slot] = node; }

void cluster_view::migrate_to(std::size_t slot, std::size_t node) { migrating_[slot] = node; }

void cluster_view::end_move(std::size_t slot) {
    importing_.erase(slot);
    migrating_.erase(slot);
    note_change();  // what it was told meanwhile counts now
}

void cluster_view::close_moves() {
    importing_.clear();
    migrating_.clear();
    note_change();
}

// Without the agreement of the others.
bool cluster_view::choose_higher_epoch() {
    auto highest = current_epoch_;
    for (const auto& each : members_)
        highest = std::max(highest, each.epoch);
    if (members_[self_].epoch != 0 && members_[self_].epoch == highest) return false;
    members_[self_].epoch = ++current_epoch_;
    note_change();
    return true;
}

void cluster_view::set_owner(std::size_t slot, std::size_t node, bool has_keys) {
    const bool was_own = owners_[slot] == self_;
    if (was_own && node != self_ && has_keys) return;
    if (!has_keys) migrating_.erase(slot);
    set_slot(slot, node);
    if (node == self_ && importing_.erase(slot) > 0) choose_higher_epoch();
    if (was_own && node != self_ && slots_of(self_) == 0) become_replica_of(node);
}

void cluster_view::win_election(std::uint64_t epoch) {
    see_epoch(epoch);
    members_[self_].epoch = epoch;
    replace_master();
}

void cluster_view::take_over() {
    choose_higher_epoch();
    replace_master();
}

void cluster_view::replace_master() {
    const auto old_master = std::exchange(members_[self_].master, no_node);
    ++replication_number_;
    for (auto& owner : owners_)
        if (owner == old_master) owner = static_cast<std::uint8_t>(self_);
    note_change();
}

std::string cluster_view::refusal(const query& asked, store& data) const {
    const auto slot = slot_of(asked.names.front());
    const std::size_t owner = owners_[slot];
    if (owner == no_node) return "CLUSTERDOWN Hash slot not served";
    if (std::ranges::any_of(asked.names, [&](auto name) { return slot_of(name) != slot; }))
        return "CROSSSLOT Keys in request don't hash to the same slot";
    // By default sharded channels are served also then.
    if (is_down_ && !asked.are_channels) return "CLUSTERDOWN The cluster is down";
    const auto target = owner == self_ ? migrating_.find(slot) : migrating_.end();
    const bool is_migrating = target != migrating_.end();
    const bool is_importing = owner != self_ && importing_.contains(slot);
    std::size_t missing = 0;
    if ((is_migrating || is_importing) && !asked.are_channels)
        missing = static_cast<std::size_t>(std::ranges::count_if(
            asked.names, [&](auto name) { return data.find(name) == nullptr; }));
    constexpr const char* try_again = "TRYAGAIN Multiple keys request during rehashing of slot";
    if (is_migrating && missing > 0)
        return missing < asked.names.size() ? try_again : redirection("ASK", slot, target->second);
    if (is_importing && asked.is_asking) {
        const bool is_one_key = std::ranges::all_of(
            asked.names, [&](auto name) { return name == asked.names.front(); });
        return missing > 0 && !is_one_key ? try_again : "";
    }
    const bool is_replicated = asked.are_channels && !is_master() && owner == master();
    return owner == self_ || is_replicated ? "" : redirection("MOVED", slot, owner);
}

redis::reply cluster_view::answer(std::span<const std::string> command) const {
    const auto& subcommand = command.size() > 1 ? command[1] : command[0];
    if (command[0] == "INFO") return string_reply(replication_text());
    if (subcommand == "NODES") return string_reply(nodes_text());
    if (subcommand == "INFO") return string_reply(info_text());
    if (subcommand == "MYID") return string_reply(id_of(self_));
    if (subcommand == "KEYSLOT")
        return integer_reply(static_cast<std::int64_t>(slot_of(command[2])));
    return error_reply("ERR Unknown subcommand or wrong number of arguments for '" + subcommand +
                       "'. Try CLUSTER HELP.");
}

std::string cluster_view::nodes_text() const {
    std::string text;
    for (std::size_t node = 0; node < members_.size(); ++node)
        text += line_of(node) + "\n";
    return text;
}

std::string cluster_view::line_of(std::size_t node) const {
    const auto& of = members_[node];
    std::string flags = node == self_ ? "myself," : "";
    flags += of.master == no_node ? "master" : "slave";
    if (of.is_failing) flags += ",fail";
    return id_of(node) + " " + address_of(node) + "@" + std::to_string(17001 + node) + " " + flags +
           " " + (of.master == no_node ? "-" : id_of(of.master)) + " 0 0 " +
           std::to_string(epoch_of(node)) + (of.is_failing ? " disconnected" : " connected") +
           slots_text(node);
}

// The ranges of all nodes are found in one pass.
std::string cluster_view::slots_text(std::size_t node) const {
    if (listed_version_ != version_) {
        slot_texts_.assign(members_.size(), {});
        for (std::size_t slot = 0; slot < slot_count; ++slot) {
            const std::size_t owner = owners_[slot];
            const auto first = slot;
            while (slot + 1 < slot_count && owners_[slot + 1] == owner)
                ++slot;
            if (owner == no_node) continue;
            slot_texts_[owner] += " " + std::to_string(first);
            if (slot > first) slot_texts_[owner] += "-" + std::to_string(slot);
        }
        listed_version_ = version_;
    }
    auto text = slot_texts_[node];
    if (node != self_) return text;
    for (const auto& [slot, target] : migrating_)
        text += " [" + std::to_string(slot) + "->-" + id_of(target) + "]";
    for (const auto& [slot, source] : importing_)
        text += " [" + std::to_string(slot) + "-<-" + id_of(source) + "]";
    return text;
}

// A node that becomes a master gets a new replication id, and so does one that starts.
std::string cluster_view::replication_text() const {
    auto id = id_of(self_);
    auto number = std::to_string(replication_number_);
    id.replace(0, number.size() + 1, number + "f");
    return std::string("# Replication\r\nrole:") + (is_master() ? "master" : "slave") +
           "\r\nmaster_replid:" + id + "\r\n";
}

std::string cluster_view::info_text() const {
    return std::string("cluster_state:") + (is_down_ ? "fail" : "ok") +
           "\r\ncluster_known_nodes:" + std::to_string(members_.size()) +
           "\r\ncluster_current_epoch:" + std::to_string(current_epoch_) +
           "\r\ncluster_my_epoch:" + std::to_string(epoch_of(self_)) + "\r\n";
}

}  // namespace pawl::simulation
