// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Parses, checks and describes the options of a set of nodes.
#pragma once

#include <pawl/redlock.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

// Throws errc::bad_option with one sentence.
void check_options(const options& node_options);
// A URL without user and password.
[[nodiscard]] std::string describe(const options& node_options);
// The options with the nodes in the order of their names, which is the same for all clients.
[[nodiscard]] options in_order(options node_options);
// "HOST:PORT" of each node, or "MASTER=SENTINEL:PORT+…", in the order of the options.
[[nodiscard]] std::vector<std::string> node_names(const options& node_options);
// The options for the node with this index alone.
[[nodiscard]] redis::options options_of_node(const options& settings, std::size_t node);
// Sentinels name the node.
[[nodiscard]] inline bool is_monitored(const where& node) noexcept {
    return std::holds_alternative<redis::sentinels>(node);
}
// Identifies the nodes and the longest ttl: 16 hex digits. `node_options` are in order.
[[nodiscard]] std::string set_digest(const options& node_options);

}  // namespace pawl::redlock
