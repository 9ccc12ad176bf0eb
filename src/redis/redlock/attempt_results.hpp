// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What became of an attempt, by the answers of the nodes. Sends nothing.
#pragma once

#include "attempt.hpp"
#include "core/util/spi.hpp"
#include "node_table.hpp"
#include "node_timing.hpp"

#include <pawl/error.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pawl::redlock {

struct attempt_result {
    std::vector<grant> grants{};     // empty: none
    std::optional<error> trouble{};  // too few nodes answered; otherwise the locks were taken
    // When a majority may be free, if nobody renews; nothing if that is not known.
    std::optional<time_point> free_at{};
    bool is_in_line = false;  // of a node, if the attempt waits
    // Nobody else is known to hold a majority: attempts were made at the same time.
    std::optional<error> split{};
    std::optional<std::string> first_rank{};  // for which the nodes were given back
    duration took{};
};

// The nodes must outlive it.
class attempt_results {
public:
    attempt_results(const node_table& nodes, const node_timing& timing) noexcept
        : nodes_(nodes), timing_(timing) {}

    [[nodiscard]] attempt_result result_of(const attempt& current) const;

private:
    [[nodiscard]] time_point now() const noexcept { return nodes_.now(); }
    [[nodiscard]] std::vector<std::string> answers_of(const attempt& current) const;
    [[nodiscard]] error split_error(const attempt& current) const;
    [[nodiscard]] error no_quorum_error(const attempt& current) const;

    const node_table& nodes_;
    const node_timing& timing_;
};

}  // namespace pawl::redlock
