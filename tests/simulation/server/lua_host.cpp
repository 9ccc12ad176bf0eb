// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lua_host.hpp"

#include "lua_replies.hpp"
#include "lua_sandbox.hpp"

#include <openssl/sha.h>
#include <lua.hpp>

#include <array>
#include <new>

namespace pawl::simulation {
namespace {

lua_State* new_state(lua_memory& memory) {
    auto* const lua = lua_newstate(lua_memory::reallocate, &memory);
    if (lua == nullptr) throw std::bad_alloc();
    return lua;
}

void set_text_array(lua_State* lua, const char* name, std::span<const std::string> texts) {
    lua_createtable(lua, static_cast<int>(texts.size()), 0);
    int index = 0;
    for (const auto& text : texts) {
        lua_pushlstring(lua, text.data(), text.size());
        lua_rawseti(lua, -2, ++index);
    }
    set_sandbox_global(lua, name);
}

}  // namespace

lua_host::lua_host() : lua_(new_state(memory_)) { fill_sandbox(lua_, *this); }

lua_host::~lua_host() { lua_close(lua_); }

lua_host& lua_host::of_this_thread() {
    thread_local lua_host host;
    return host;
}

lua_host::function lua_host::compile(std::string_view text) {
    if (const auto it = compiled_.find(text); it != compiled_.end()) return it->second;
    if (luaL_loadbuffer(lua_, text.data(), text.size(), "@user_script") != 0) {
        const std::string error = lua_tostring(lua_, -1);
        lua_pop(lua_, 1);
        throw command_error("ERR Error compiling script (new function): " + error);
    }
    const auto compiled = static_cast<function>(luaL_ref(lua_, LUA_REGISTRYINDEX));
    return compiled_.emplace(text, compiled).first->second;
}

redis::reply lua_host::run(const invocation& script, command_session& session) {
    random_state_ = 0x1234ABCD330E;
    set_text_array(lua_, "KEYS", script.keys);
    set_text_array(lua_, "ARGV", script.arguments);
    lua_pushcfunction(lua_, describe_lua_error);
    lua_rawgeti(lua_, LUA_REGISTRYINDEX, static_cast<int>(script.script));
    session_ = &session;
    const bool failed = lua_pcall(lua_, 0, 1, -2) != 0;
    session_ = nullptr;
    auto reply = failed ? pop_script_error(lua_, script.sha1) : pop_reply(lua_);
    lua_pop(lua_, 1);
    return reply;
}

// The words stay valid while Lua's arguments are on its stack.
bool lua_host::read_words(lua_State* lua) {
    const auto count = lua_gettop(lua);
    words_.clear();
    numbers_.clear();
    numbers_.reserve(static_cast<std::size_t>(count));
    for (int i = 1; i <= count; ++i) {
        std::size_t size = 0;
        if (lua_type(lua, i) == LUA_TNUMBER) {
            words_.push_back(numbers_.emplace_back(lua_tonumber(lua, i)).view());
        } else if (const char* const text = lua_tolstring(lua, i, &size)) {
            words_.emplace_back(text, size);
        } else {
            push_error(lua, "ERR Lua redis lib command arguments must be strings or integers");
            return false;
        }
    }
    if (count == 0)
        push_error(lua, "ERR Please specify at least one argument for this redis lib call");
    return count > 0;
}

bool lua_host::call_command(lua_State* lua) noexcept {
    if (!read_words(lua)) return false;
    try {
        lua_reply_sink reply(lua);
        session_->execute(words_, reply);
        return true;
    } catch (const command_error& error) {
        push_error(lua, error.what());
        return false;
    }
}

void lua_host::seed_random(std::uint32_t seed) noexcept {
    random_state_ = std::uint64_t{seed} << 16 | 0x330E;
}

// lrand48
std::uint32_t lua_host::next_random() noexcept {
    random_state_ = (random_state_ * 0x5DEECE66Du + 0xB) & 0xFFFFFFFFFFFFu;
    return static_cast<std::uint32_t>(random_state_ >> 17);
}

std::string sha1_hex(std::string_view text) {
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
    ::SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const auto byte : digest) {
        hex += digits[byte >> 4];
        hex += digits[byte & 15];
    }
    return hex;
}

}  // namespace pawl::simulation
