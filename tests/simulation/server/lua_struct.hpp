// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The library `struct` that Redis gives to its scripts, by Roberto Ierusalimschy, as far as the
// simulated scripts need it: integers of up to 8 bytes, without alignment.
#pragma once

struct lua_State;

namespace pawl::simulation {

// struct.pack and struct.unpack. Any other format is an error of the script.
int struct_pack(lua_State* lua);
int struct_unpack(lua_State* lua);

}  // namespace pawl::simulation
