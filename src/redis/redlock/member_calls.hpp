// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the scripts for the membership of a node, and their replies. They follow the rules
// of calls.hpp.
#pragma once

#include "calls.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::redlock {

// A node's answer about its membership.
struct member_report {
    bool is_member = false;
    std::string set{};
    membership_state member{};
    std::int64_t highest = 0;         // of no member: of its earlier memberships
    std::int64_t quarantine_ms = -2;  // negative: none
    std::string genesis{};            // how its set began
    std::string nodes{};  // of its set, as a URL; empty: an earlier version made the set
};

// prepare.lua
struct prepare_call {
    const set_parameters& set;
    std::string_view nonce;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    [[nodiscard]] member_report read(const redis::reply& from) const;
};

// standing.lua
struct standing_call {
    const set_parameters& set;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    [[nodiscard]] member_report read(const redis::reply& from) const;
};

// forget.lua
struct forget_call {
    const set_parameters& set;
    std::string_view nonce;
    std::string_view only{};  // the memory that is to be forgotten; empty: any

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    [[nodiscard]] bool read(const redis::reply& from) const;
};

// end_quarantine.lua
struct end_quarantine_call {
    const set_parameters& set;
    std::string_view nonce;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
};

// mark.lua
struct mark_call {
    const set_parameters& set;
    std::string index, incarnation, nonce;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    struct answer {
        standing_reply standing;
        bool is_marked = false;
        membership_state member{};  // of the node that has got the memory mark
        std::int64_t highest = 0;
    };
    [[nodiscard]] answer read(const redis::reply& from) const;
};

// install.lua
struct install_call {
    const set_parameters& set;
    std::string nonce, incarnation, vector, highest, quarantine_ms, genesis;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    [[nodiscard]] bool read(const redis::reply& from) const;
};

}  // namespace pawl::redlock
