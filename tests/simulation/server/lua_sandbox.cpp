// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lua_sandbox.hpp"

#include "lua_host.hpp"
#include "lua_replies.hpp"
#include "lua_struct.hpp"

#include <lua.hpp>

#include <cmath>
#include <limits>

namespace pawl::simulation {
namespace {

// In Lua's registry: the table with the global variables. Scripts see it through an empty one.
const char globals_key = 0;

// Every function that needs it has the host as its first upvalue.
lua_host& host_of(lua_State* lua) {
    return *static_cast<lua_host*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

int fail_with(lua_State* lua, const char* error) {
    push_error(lua, error);
    return lua_error(lua);
}

int redis_call(lua_State* lua) { return host_of(lua).call_command(lua) ? 1 : lua_error(lua); }

int redis_pcall(lua_State* lua) {
    static_cast<void>(host_of(lua).call_command(lua));
    return 1;
}

bool has_one_text(lua_State* lua) {
    return lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING;
}

int redis_error_reply(lua_State* lua) {
    if (!has_one_text(lua)) {
        push_error(lua, "ERR wrong number or type of arguments");
        return 1;
    }
    const std::string_view error = lua_tostring(lua, 1);
    push_error(lua, error.starts_with('-') ? error.substr(1) : error);
    return 1;
}

int redis_status_reply(lua_State* lua) {
    if (!has_one_text(lua)) {
        push_error(lua, "ERR wrong number or type of arguments");
        return 1;
    }
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, "ok");
    return 1;
}

int redis_sha1hex(lua_State* lua) {
    if (lua_gettop(lua) != 1) return fail_with(lua, "ERR wrong number of arguments");
    std::size_t size = 0;
    const char* const text = lua_tolstring(lua, 1, &size);
    lua_pushstring(lua, sha1_hex({text, text == nullptr ? 0 : size}).c_str());
    return 1;
}

// Unlike Lua's own, it gives the message of a command's error, not its table.
int protected_call(lua_State* lua) {
    luaL_checkany(lua, 1);
    const bool failed = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0) != 0;
    if (failed && lua_istable(lua, -1)) {
        lua_getfield(lua, -1, "err");
        if (lua_isstring(lua, -1) != 0)
            lua_replace(lua, -2);
        else
            lua_pop(lua, 1);
    }
    lua_pushboolean(lua, !failed);
    lua_insert(lua, 1);
    return lua_gettop(lua);
}

int math_random(lua_State* lua) {
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    const auto share = static_cast<lua_Number>(host_of(lua).next_random() % most) / most;
    const auto arguments = lua_gettop(lua);
    if (arguments > 2) return luaL_error(lua, "wrong number of arguments");
    if (arguments == 0) {
        lua_pushnumber(lua, share);
        return 1;
    }
    const auto low = arguments == 1 ? 1 : luaL_checkint(lua, 1);
    const auto high = luaL_checkint(lua, arguments);
    luaL_argcheck(lua, low <= high, arguments, "interval is empty");
    lua_pushnumber(lua, std::floor(share * (high - low + 1)) + low);
    return 1;
}

int math_randomseed(lua_State* lua) {
    host_of(lua).seed_random(static_cast<std::uint32_t>(luaL_checkint(lua, 1)));
    return 0;
}

constexpr const char* read_only_error = "Attempt to modify a readonly table";

int refuse_change(lua_State* lua) { return luaL_error(lua, "%s", read_only_error); }

int refuse_unknown_global(lua_State* lua) {
    return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
                      lua_tostring(lua, 2));
}

// `rawset` asks no metatable, so it looks for the read-only tables itself.
int checked_rawset(lua_State* lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_checkany(lua, 2);
    luaL_checkany(lua, 3);
    if (luaL_getmetafield(lua, 1, "__newindex") != 0) {
        if (lua_tocfunction(lua, -1) == refuse_change) {
            lua_pushstring(lua, read_only_error);
            return lua_error(lua);
        }
        lua_pop(lua, 1);
    }
    lua_settop(lua, 3);
    lua_rawset(lua, 1);
    return 1;
}

// Replaces the table on top by an empty one that shows it and refuses every change.
void make_read_only(lua_State* lua) {
    lua_newtable(lua);
    lua_createtable(lua, 0, 3);
    lua_pushvalue(lua, -3);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_change);
    lua_setfield(lua, -2, "__newindex");
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_setmetatable(lua, -2);
    lua_remove(lua, -2);
}

void open_library(lua_State* lua, const char* name, lua_CFunction open) {
    lua_pushcfunction(lua, open);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 0);
}

// Adds the functions to the table on top. Their first upvalue is the host.
template <std::size_t Size>
void add_functions(lua_State* lua, lua_host& host, const luaL_Reg (&functions)[Size]) {
    for (const auto& each : functions) {
        lua_pushlightuserdata(lua, &host);
        lua_pushcclosure(lua, each.func, 1);
        lua_setfield(lua, -2, each.name);
    }
}

void add_redis(lua_State* lua, lua_host& host) {
    lua_newtable(lua);
    add_functions(lua, host,
                  {{"call", redis_call},
                   {"pcall", redis_pcall},
                   {"error_reply", redis_error_reply},
                   {"status_reply", redis_status_reply},
                   {"sha1hex", redis_sha1hex}});
    lua_setglobal(lua, "redis");
}

void add_struct(lua_State* lua, lua_host& host) {
    lua_newtable(lua);
    add_functions(lua, host, {{"pack", struct_pack}, {"unpack", struct_unpack}});
    lua_setglobal(lua, "struct");
}

void change_libraries(lua_State* lua, lua_host& host) {
    lua_getglobal(lua, "math");
    add_functions(lua, host, {{"random", math_random}, {"randomseed", math_randomseed}});
    lua_pop(lua, 1);
    lua_register(lua, "pcall", protected_call);
    lua_register(lua, "rawset", checked_rawset);
    for (const char* const removed : {"dofile", "loadfile", "print"}) {
        lua_pushnil(lua);
        lua_setglobal(lua, removed);
    }
}

void protect_libraries(lua_State* lua) {
    for (const char* const name : {"string", "table", "math", "coroutine", "redis", "struct"}) {
        lua_getglobal(lua, name);
        make_read_only(lua);
        lua_setglobal(lua, name);
    }
    // The metatable of all texts.
    lua_pushliteral(lua, "");
    lua_getmetatable(lua, -1);
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 2);
}

void protect_globals(lua_State* lua) {
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    lua_createtable(lua, 0, 1);
    lua_pushcfunction(lua, refuse_unknown_global);
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, -2);
    lua_pushlightuserdata(lua, const_cast<char*>(&globals_key));
    lua_pushvalue(lua, -2);
    lua_rawset(lua, LUA_REGISTRYINDEX);
    make_read_only(lua);
    lua_pushvalue(lua, -1);
    set_sandbox_global(lua, "_G");
    lua_replace(lua, LUA_GLOBALSINDEX);
}

}  // namespace

void fill_sandbox(lua_State* lua, lua_host& host) {
    open_library(lua, "", luaopen_base);
    open_library(lua, LUA_TABLIBNAME, luaopen_table);
    open_library(lua, LUA_STRLIBNAME, luaopen_string);
    open_library(lua, LUA_MATHLIBNAME, luaopen_math);
    add_redis(lua, host);
    add_struct(lua, host);
    change_libraries(lua, host);
    protect_libraries(lua);
    protect_globals(lua);
}

void set_sandbox_global(lua_State* lua, const char* name) {
    lua_pushlightuserdata(lua, const_cast<char*>(&globals_key));
    lua_rawget(lua, LUA_REGISTRYINDEX);
    lua_pushstring(lua, name);
    lua_pushvalue(lua, -3);
    lua_rawset(lua, -3);
    lua_pop(lua, 2);
}

}  // namespace pawl::simulation
