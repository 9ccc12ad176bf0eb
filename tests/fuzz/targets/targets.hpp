// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The fuzz targets: each takes any bytes and must neither crash, hang nor fill the memory.
#pragma once

#include <span>
#include <string_view>

namespace fuzz {

struct target {
    const char* name;
    void (*run)(std::string_view input);
};

[[nodiscard]] std::span<const target> all_targets() noexcept;

void resp(std::string_view input);  // bytes of a server, from the socket to the handled pushes
// well-formed replies with values that other programs wrote into Pawl's keys
void replies(std::string_view input);
void urls(std::string_view input);       // URLs of services
void templates(std::string_view input);  // namespace, key template and lock name
void times(std::string_view input);      // durations, permits and other words of the command line
void config(std::string_view input);     // configuration files
void rows(std::string_view input);       // rows of a SQLite file
void headers(std::string_view input);    // Idempotency-Key, Fencing-Token, stored answers

// Ends the program when a target finds an error: the input is kept.
[[noreturn]] void fail(const char* sentence);

}  // namespace fuzz
