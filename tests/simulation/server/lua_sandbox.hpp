// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a script finds in Lua: Redis' functions, Lua's libraries as far as Redis allows them, and
// tables that a script cannot change.
#pragma once

struct lua_State;

namespace pawl::simulation {

class lua_host;

// `host` executes the scripts' commands.
void fill_sandbox(lua_State* lua, lua_host& host);
// Makes the global variable of the value on top of the stack, and pops it. Scripts cannot do this.
void set_sandbox_global(lua_State* lua, const char* name);

}  // namespace pawl::simulation
