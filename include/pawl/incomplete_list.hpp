// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The error of a list to which some servers of the service have not contributed. Standard headers
// only.
#pragma once

#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <string>
#include <utility>
#include <vector>

namespace pawl {

// Thrown by `list` if only some of the service's servers have answered, such as the nodes of a
// cluster. The code and the message are about a server that has not.
class incomplete_list : public error {
public:
    // `sentence` is the whole message, `locks` those of the servers that have answered.
    incomplete_list(errc code, const std::string& sentence, std::vector<lock_info> locks)
        : error(code, sentence), locks_(std::move(locks)) {}
    // The held locks of the servers that have answered.
    [[nodiscard]] const std::vector<lock_info>& locks() const noexcept { return locks_; }

private:
    std::vector<lock_info> locks_;
};

}  // namespace pawl
