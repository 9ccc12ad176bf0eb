// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Conversions between Lua values and replies, as in Redis 7.0.
#pragma once

#include "reply_sink.hpp"

#include <redis/transport/link.hpp>

#include <array>
#include <string_view>

struct lua_State;

namespace pawl::simulation {

// Pushes a command's reply: nil is `false`, a status is {ok = …}.
class lua_reply_sink final : public reply_sink {
public:
    explicit lua_reply_sink(lua_State* lua) noexcept : lua_(lua) {}

    void nil() override;
    void integer(std::int64_t number) override;
    void bulk(std::string_view text) override;
    void status(std::string_view text) override;
    void array(std::size_t count) override;

private:
    struct open_array {
        std::size_t count = 0;
        int filled = 0;
    };
    void finish_value();

    lua_State* const lua_;
    std::array<open_array, 4> open_arrays_;
    std::size_t depth_ = 0;
};

// Pushes {err = …}. An error of a single word gets the code ERR.
void push_error(lua_State* lua, std::string_view error);
// Converts the value on top of Lua's stack and pops it: numbers lose their fraction, a table ends
// before its first nil, `true` is 1, and `false` is nil.
[[nodiscard]] redis::reply pop_reply(lua_State* lua);
// The same for the error of a script that has ended with it.
[[nodiscard]] redis::reply pop_script_error(lua_State* lua, std::string_view sha1);
// The handler for a script's errors: makes {err, source, line} of the error on the stack.
int describe_lua_error(lua_State* lua);

}  // namespace pawl::simulation
