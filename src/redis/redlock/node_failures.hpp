// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Why nodes did not do what they were asked, and what that means for the whole set.
#pragma once

#include <pawl/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

// The message of an error, for a list in which the node's name comes first.
[[nodiscard]] std::string without_name(std::string_view text, std::string_view name);

class node_failures {
public:
    explicit node_failures(std::size_t nodes) : failures_(nodes) {}

    void add(std::size_t node, const error& failure) { failures_[node] = failure; }
    [[nodiscard]] std::size_t count() const noexcept;
    // So many nodes refuse this client that no majority is left, and waiting does not help: a wrong
    // password, a missing right, a server of another kind. Returns the reason of the first of them.
    [[nodiscard]] std::optional<errc> lasting_reason() const noexcept;
    // "NODE, NODE: reason; NODE: reason"; empty if there is no failure.
    [[nodiscard]] std::string text(const std::vector<std::string>& names) const;

private:
    std::vector<std::optional<error>> failures_;  // of each node
};

// "NODE, NODE: text; NODE: text": nodes with the same text share it. Empty texts are left out.
[[nodiscard]] std::string grouped_text(const std::vector<std::string>& names,
                                       const std::vector<std::string>& texts);

}  // namespace pawl::redlock
