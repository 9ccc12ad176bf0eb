// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_group.hpp"

#include <pawl/blocking/redlock_administration.hpp>

namespace support {
namespace {

pawl::blocking::redlock_administration administration_of(const std::string& url) {
    return pawl::blocking::redlock_administration(pawl::redlock::parse(url));
}

}  // namespace

redlock_group::redlock_group(std::size_t nodes, const redis_options& node_options,
                             const std::vector<machine>& machines) {
    for (std::size_t i = 0; i < nodes; ++i) {
        auto options = node_options;
        if (!machines.empty()) options.runs_on = machines.at(i);
        nodes_.push_back(std::make_unique<redis_server>(options));
    }
}

std::string redlock_group::name_of(std::size_t index) const {
    const auto& server = *nodes_.at(index);
    return server.host() + ":" + std::to_string(server.port());
}

std::string redlock_group::url(const std::string& more) const {
    std::string text = "redlock://";
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        text += (i == 0 ? "" : ",") + name_of(i);
    return text + more;
}

void redlock_group::begin_set(const std::string& url, bool forget) {
    administration_of(url).begin_set(forget);
}

std::vector<pawl::redlock::node_status> redlock_group::rejoin(const std::string& url) {
    return administration_of(url).rejoin();
}

std::vector<pawl::redlock::node_status> redlock_group::examine(const std::string& url) {
    return administration_of(url).examine();
}

std::size_t redlock_group::count_of(const std::string& lock) {
    std::size_t count = 0;
    for (const auto& each : nodes_)
        if (each->is_running() && !each->is_frozen() &&
            each->execute({"EXISTS", "pawl:{" + lock + "}"}).number() == 1)
            ++count;
    return count;
}

}  // namespace support
