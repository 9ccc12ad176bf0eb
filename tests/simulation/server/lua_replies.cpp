// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lua_replies.hpp"

#include "replies.hpp"

#include <lua.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace pawl::simulation {
namespace {

void push_text(lua_State* lua, std::string_view text) {
    lua_pushlstring(lua, text.data(), text.size());
}

std::string_view text_at(lua_State* lua, int index) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(lua, index, &size);
    return {text, size};
}

// An error or a status is one line.
std::string one_line(std::string_view text) {
    const auto end = text.find_last_not_of("\r\n");
    std::string result(text.substr(0, end == std::string_view::npos ? 0 : end + 1));
    std::ranges::replace(result, '\r', ' ');
    std::ranges::replace(result, '\n', ' ');
    return result;
}

// As the conversion to a long long does on the processors of servers.
std::int64_t to_integer(double number) noexcept {
    constexpr auto limit = 0x1p63;
    return number >= -limit && number < limit ? static_cast<std::int64_t>(number)
                                              : std::numeric_limits<std::int64_t>::min();
}

// Pushes the field of the table on top; pops it again if it is not text.
bool push_text_field(lua_State* lua, const char* name) {
    lua_pushstring(lua, name);
    lua_rawget(lua, -2);
    if (lua_type(lua, -1) == LUA_TSTRING) return true;
    lua_pop(lua, 1);
    return false;
}

redis::reply table_to_reply(lua_State* lua) {
    if (push_text_field(lua, "err")) {
        auto reply = error_reply(one_line(text_at(lua, -1)));
        lua_pop(lua, 1);
        return reply;
    }
    if (push_text_field(lua, "ok")) {
        auto reply = string_reply(one_line(text_at(lua, -1)));
        lua_pop(lua, 1);
        return reply;
    }
    std::vector<redis::reply> items;
    for (int i = 1;; ++i) {
        lua_rawgeti(lua, -1, i);
        if (lua_isnil(lua, -1)) break;
        items.push_back(pop_reply(lua));
    }
    lua_pop(lua, 1);
    return array_reply(std::move(items));
}

// A field of an error; empty if it is missing.
std::string field_of_error(lua_State* lua, const char* name) {
    lua_getfield(lua, -1, name);
    std::string text;
    if (lua_isstring(lua, -1)) text = text_at(lua, -1);
    lua_pop(lua, 1);
    return text;
}

}  // namespace

void lua_reply_sink::nil() {
    lua_pushboolean(lua_, 0);
    finish_value();
}

void lua_reply_sink::integer(std::int64_t number) {
    lua_pushnumber(lua_, static_cast<lua_Number>(number));
    finish_value();
}

void lua_reply_sink::bulk(std::string_view text) {
    push_text(lua_, text);
    finish_value();
}

void lua_reply_sink::status(std::string_view text) {
    lua_createtable(lua_, 0, 1);
    push_text(lua_, text);
    lua_setfield(lua_, -2, "ok");
    finish_value();
}

void lua_reply_sink::array(std::size_t count) {
    lua_createtable(lua_, static_cast<int>(count), 0);
    if (count == 0) return finish_value();
    open_arrays_.at(depth_++) = {count, 0};
}

// The value on top becomes the next item of the innermost open array.
void lua_reply_sink::finish_value() {
    for (; depth_ > 0; --depth_) {
        auto& innermost = open_arrays_[depth_ - 1];
        lua_rawseti(lua_, -2, ++innermost.filled);
        if (static_cast<std::size_t>(innermost.filled) < innermost.count) return;
    }
}

void push_error(lua_State* lua, std::string_view error) {
    const bool has_code = error.find(' ') != std::string_view::npos;
    lua_createtable(lua, 0, 1);
    push_text(lua, one_line(has_code ? error : "ERR " + std::string(error)));
    lua_setfield(lua, -2, "err");
}

redis::reply pop_reply(lua_State* lua) {
    if (lua_checkstack(lua, 4) == 0) {
        lua_pop(lua, 1);
        return error_reply("ERR reached lua stack limit");
    }
    redis::reply reply;
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING: reply = string_reply(std::string(text_at(lua, -1))); break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1) != 0) reply = integer_reply(1);
        break;
    case LUA_TNUMBER: reply = integer_reply(to_integer(lua_tonumber(lua, -1))); break;
    case LUA_TTABLE: reply = table_to_reply(lua); break;
    default: break;
    }
    lua_pop(lua, 1);
    return reply;
}

redis::reply pop_script_error(lua_State* lua, std::string_view sha1) {
    std::string text;
    if (lua_istable(lua, -1)) {
        text = field_of_error(lua, "err");
        const auto source = field_of_error(lua, "source");
        const auto line = field_of_error(lua, "line");
        if (!source.empty() && !line.empty())
            text += " script: " + std::string(sha1) + ", on " + source + ":" + line + ".";
    } else {
        text = "ERR Error running script " + std::string(sha1) + ", " +
               (lua_isstring(lua, -1) != 0 ? std::string(text_at(lua, -1)) : "execution failure");
    }
    lua_pop(lua, 1);
    return error_reply(one_line(text));
}

int describe_lua_error(lua_State* lua) {
    if (!lua_istable(lua, -1)) {
        lua_createtable(lua, 0, 3);
        lua_pushstring(lua, "ERR ");
        if (lua_isstring(lua, -3) != 0)
            lua_pushvalue(lua, -3);
        else
            lua_pushstring(lua, luaL_typename(lua, -3));
        lua_concat(lua, 2);
        lua_setfield(lua, -2, "err");
    }
    lua_Debug info{};
    bool is_known = lua_getstack(lua, 1, &info) != 0 && lua_getinfo(lua, "nSl", &info) != 0;
    // The error of a built-in function is at the place that called it.
    if (is_known && std::string_view(info.what) == "C")
        is_known = lua_getstack(lua, 2, &info) != 0 && lua_getinfo(lua, "nSl", &info) != 0;
    if (is_known) {
        lua_pushstring(lua, info.source);
        lua_setfield(lua, -2, "source");
        lua_pushinteger(lua, info.currentline);
        lua_setfield(lua, -2, "line");
    }
    return 1;
}

}  // namespace pawl::simulation
