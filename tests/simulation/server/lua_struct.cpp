// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lua_struct.hpp"

#include <lua.hpp>

#include <array>
#include <bit>
#include <cctype>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pawl::simulation {
namespace {

// Lua leaves these functions by longjmp after an error, so no object here has a destructor.

constexpr int max_integer_size = 8;

// The integers of a format, one after the other.
class format_reader {
public:
    explicit format_reader(const char* format) : next_(format) {}

    // Reads until the next integer. False: the format has ended.
    bool read(lua_State* lua) {
        for (; *next_ != '\0'; ++next_) {
            if (*next_ == '<' || *next_ == '>')
                is_little_endian_ = *next_ == '<';
            else if (*next_ != ' ')
                break;
        }
        if (*next_ == '\0') return false;
        const char option = *next_++;
        size_ = size_of(lua, option);
        is_signed_ = std::islower(static_cast<unsigned char>(option)) != 0;
        return true;
    }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    [[nodiscard]] bool is_signed() const noexcept { return is_signed_; }
    // The position of the byte with this value, from the least one.
    [[nodiscard]] std::size_t position_of(std::size_t byte) const noexcept {
        return is_little_endian_ ? byte : size() - 1 - byte;
    }

private:
    int size_of(lua_State* lua, char option) {
        switch (option) {
        case 'b':
        case 'B': return sizeof(char);
        case 'h':
        case 'H': return sizeof(short);
        case 'l':
        case 'L': return sizeof(long);
        case 'T': return sizeof(std::size_t);
        case 'i':
        case 'I': return read_size(lua);
        case '!':
        case 'c':
        case 's':
        case 'x':
        case 'f':
        case 'd':
            return luaL_error(lua, "the simulated server has no format '%c' in `struct`", option);
        default:
            return luaL_argerror(lua, 1,
                                 lua_pushfstring(lua, "invalid format option '%c'", option));
        }
    }
    int read_size(lua_State* lua) {
        if (std::isdigit(static_cast<unsigned char>(*next_)) == 0) return sizeof(int);
        int size = 0;
        while (std::isdigit(static_cast<unsigned char>(*next_)) != 0) {
            const int digit = *next_++ - '0';
            if (size > INT_MAX / 10 || size * 10 > INT_MAX - digit)
                return luaL_error(lua, "integral size overflow");
            size = size * 10 + digit;
        }
        constexpr int limit = 32;
        if (size > limit)
            return luaL_error(lua, "integral size %d is larger than limit of %d", size, limit);
        if (size == 0 || size > max_integer_size)
            return luaL_error(lua, "the simulated server has no integers of %d bytes in `struct`",
                              size);
        return size;
    }

    const char* next_;
    bool is_little_endian_ = std::endian::native == std::endian::little;
    bool is_signed_ = false;
    int size_ = 0;
};

}  // namespace

int struct_pack(lua_State* lua) {
    format_reader format(luaL_checkstring(lua, 1));
    lua_pushnil(lua);  // a missing argument is not taken from the buffer's part of the stack
    luaL_Buffer buffer;
    luaL_buffinit(lua, &buffer);
    for (int argument = 2; format.read(lua); ++argument) {
        const auto number = luaL_checknumber(lua, argument);
        auto value = number < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                                : static_cast<std::uint64_t>(number);
        std::array<char, max_integer_size> bytes{};
        for (std::size_t i = 0; i < format.size(); ++i, value >>= 8)
            bytes[format.position_of(i)] = static_cast<char>(value & 0xFF);
        luaL_addlstring(&buffer, bytes.data(), format.size());
    }
    luaL_pushresult(&buffer);
    return 1;
}

int struct_unpack(lua_State* lua) {
    format_reader format(luaL_checkstring(lua, 1));
    std::size_t size = 0;
    const char* const text = luaL_checklstring(lua, 2, &size);
    const std::string_view data(text, size);
    const auto first = luaL_optinteger(lua, 3, 1);
    luaL_argcheck(lua, first > 0, 3, "offset must be 1 or greater");
    auto position = static_cast<std::size_t>(first) - 1;
    int results = 0;
    for (; format.read(lua); ++results) {
        luaL_argcheck(lua, format.size() <= size && position <= size - format.size(), 2,
                      "data string too short");
        luaL_checkstack(lua, 2, "too many results");
        std::uint64_t value = 0;
        for (auto i = format.size(); i-- > 0;)
            value = value << 8 | static_cast<unsigned char>(data[position + format.position_of(i)]);
        const auto unused_bits = 64 - 8 * static_cast<int>(format.size());
        const auto extended = static_cast<std::int64_t>(value << unused_bits) >> unused_bits;
        lua_pushnumber(lua, format.is_signed() ? static_cast<lua_Number>(extended)
                                               : static_cast<lua_Number>(value));
        position += format.size();
    }
    lua_pushinteger(lua, static_cast<lua_Integer>(position) + 1);
    return results + 1;
}

}  // namespace pawl::simulation
