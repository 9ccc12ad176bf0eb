// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The Lua of Redis 7.0, without `cjson`, `cmsgpack` and `bit`, which no script of the simulation
// uses. A script cannot make a global variable, so scripts do not affect each other.
#pragma once

#include "commands.hpp"
#include "lua_memory.hpp"
#include "numbers.hpp"

#include <redis/transport/link.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;

namespace pawl::simulation {

class lua_host {
public:
    // A compiled script, valid as long as the host.
    enum class function : int {};
    struct invocation {
        function script;
        std::string_view sha1;
        std::span<const std::string> keys, arguments;
    };

    lua_host();
    lua_host(const lua_host&) = delete;
    lua_host& operator=(const lua_host&) = delete;
    ~lua_host();

    // The host of this thread: compiling a script takes longer than running it.
    [[nodiscard]] static lua_host& of_this_thread();

    // Each text is compiled once. Throws `command_error`.
    function compile(std::string_view text);
    // The script's reply, which may be an error.
    redis::reply run(const invocation& script, command_session& session);

    // For the functions that a script calls:

    // Executes the command in Lua's arguments and pushes its reply. Returns false if that is an
    // error.
    bool call_command(lua_State* lua) noexcept;
    // The next number of the sequence that Redis uses for math.random. In Redis it begins with the
    // server; here, for the sake of repeatable scenarios, with each script.
    std::uint32_t next_random() noexcept;
    void seed_random(std::uint32_t seed) noexcept;

private:
    bool read_words(lua_State* lua);

    lua_memory memory_;
    lua_State* const lua_;
    std::map<std::string, function, std::less<>> compiled_;
    command_session* session_ = nullptr;
    std::vector<std::string_view> words_;
    std::vector<number_text> numbers_;
    std::uint64_t random_state_ = 0;
};

// In hex.
[[nodiscard]] std::string sha1_hex(std::string_view text);

}  // namespace pawl::simulation
