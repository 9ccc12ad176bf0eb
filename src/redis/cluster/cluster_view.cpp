// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_view.hpp"

#include "../topology/epoch.hpp"

#include <algorithm>

namespace pawl::redis {

void cluster_view::update(const std::vector<listed_node>& view, const std::string& asked_host) {
    nodes_ = view;
    // Only the node that was asked may leave out its own address.
    for (auto& each : nodes_)
        if (each.host.empty() && each.name.empty()) each.host = asked_host;
}

unsigned cluster_view::assign(const listed_node& master, std::uint32_t number) {
    unsigned gained = 0;
    for (const auto& [first, last] : master.slots)
        for (auto slot = first; slot <= last; ++slot)
            gained += slots_.assign(slot, number, master.epoch) ? 1U : 0U;
    return gained;
}

void cluster_view::renumber(std::uint32_t earlier, std::uint32_t present) noexcept {
    slots_.renumber(earlier, present);
    ++version_;
}

void cluster_view::give_up_all(std::uint32_t number) noexcept {
    for (unsigned slot = 0; slot < slot_count; ++slot)
        if (slots_.master_of(slot) == number) slots_.give_up(slot);
}

bool cluster_view::has_any_node(const std::vector<listed_node>& other) const {
    return std::ranges::any_of(other, [this](const listed_node& each) {
        return std::ranges::count(nodes_, each.id, &listed_node::id) > 0;
    });
}

const listed_node* cluster_view::find_master(std::string_view host, std::uint16_t port) const {
    const auto listed = std::ranges::find_if(nodes_, [&](const listed_node& each) {
        return each.is_master && each.port == port && (each.host == host || each.name == host);
    });
    return listed == nodes_.end() ? nullptr : &*listed;
}

std::set<std::uint32_t> cluster_view::masters() const {
    std::set<std::uint32_t> result;
    for (unsigned slot = 0; slot < slot_count; ++slot)
        if (slot == 0 || slots_.master_of(slot) != slots_.master_of(slot - 1))
            result.insert(slots_.master_of(slot));
    return result;
}

bool cluster_view::may_get_slots(std::string_view id) const {
    const auto listed = std::ranges::find(nodes_, id, &listed_node::id);
    return listed != nodes_.end() && listed->is_master && !listed->is_failing;
}

std::vector<seed> cluster_view::seeds(const cluster_settings& settings) const {
    std::vector<seed> result;
    for (const auto& each : nodes_)
        result.push_back({endpoint_of(each, each.host, settings), each.id});
    return result;
}

bool is_usable_master(const listed_node& listed) noexcept {
    return listed.is_master && !listed.slots.empty() && listed.epoch <= max_epoch;
}

net::endpoint endpoint_of(const listed_node& listed, const std::string& asked_host,
                          const cluster_settings& settings) {
    net::endpoint result;
    result.host = !listed.host.empty()   ? listed.host
                  : !listed.name.empty() ? listed.name
                                         : asked_host;
    result.port = listed.port;
    if (!settings.uses_tls) return result;
    if (!settings.tls_name.empty())
        result.tls_name = settings.tls_name;
    else
        result.tls_name = listed.name.empty() ? result.host : listed.name;
    return result;
}

const listed_node& find_myself(const std::vector<listed_node>& view) {
    return *std::ranges::find(view, true, &listed_node::is_myself);
}

std::optional<error> find_objection(const std::string& id, const std::string& name,
                                    const listed_node& myself) {
    const auto subject = "The node " + name;
    if (myself.id != id) return error(errc::unavailable, subject + " is another one by now");
    if (!myself.is_master) return error(errc::unavailable, subject + " is a replica by now");
    if (myself.epoch <= max_epoch) return std::nullopt;
    return error(errc::unsupported, subject + " has the config epoch " +
                                        std::to_string(myself.epoch) +
                                        ", and a token has room for 65535; make a new cluster.");
}

}  // namespace pawl::redis
