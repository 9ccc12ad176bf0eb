// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What Consul is asked for, and what it answers.
#pragma once

#include <pawl/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::consul {

// A key with its value.
struct entry {
    std::string key{};
    std::string value{};
    std::string session{};  // that has the lock; empty: nobody has
    std::uint64_t flags = 0;
    std::uint64_t modify_index = 0;  // raised by each change of any key
};

// One operation of a transaction.
struct operation {
    std::string_view verb;  // of the API, such as "check-index"
    std::string key;
    std::string value{};
    std::string session{};
    std::uint64_t index = 0;
    std::uint64_t flags = 0;
};

// Why a transaction has changed nothing.
struct refusal {
    std::size_t operation = 0;  // its number
    std::string reason{};       // in Consul's words
};

struct transaction_result {
    std::vector<entry> entries{};     // of the operations that return one
    std::vector<refusal> refusals{};  // empty: all operations were carried out
};

// What a read has found.
struct reading {
    std::uint64_t index = 0;  // for a wait for the next change
    std::optional<entry> stored{};
};

// The facts about a session that others may see.
struct session_info {
    std::string name{};
    std::string node{};
    duration lock_delay{};
};

}  // namespace pawl::consul
