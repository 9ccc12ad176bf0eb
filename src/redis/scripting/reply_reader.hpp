// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reads a script's reply item by item. Only this class rejects a reply that breaks the script's
// contract.
#pragma once

#include "script.hpp"

#include "../transport/link.hpp"

#include <pawl/types.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace pawl::redis {

// The arguments must outlive the reader. The reading functions throw errc::protocol, with the
// script's name, for an item of another type, size or range.
class reply_reader {
public:
    // `subject`, the lock's key, is the first word of the error message.
    reply_reader(const script& code, const reply& item, std::string_view subject) noexcept
        : code_(code), item_(item), subject_(subject) {}

    [[nodiscard]] bool is_nil() const noexcept { return item_.type == reply::kind::nil; }
    [[nodiscard]] bool is_text() const noexcept { return item_.type == reply::kind::string; }
    [[nodiscard]] bool is_array() const noexcept { return item_.type == reply::kind::array; }

    // For arrays only.
    [[nodiscard]] std::size_t size() const;
    void expect_size(std::size_t expected) const;
    [[nodiscard]] reply_reader at(std::size_t index) const;

    [[nodiscard]] const std::string& text() const;
    [[nodiscard]] std::int64_t integer(
        std::int64_t lowest, std::int64_t highest = std::numeric_limits<std::int64_t>::max()) const;
    [[nodiscard]] bool flag() const { return integer(0, 1) == 1; }
    // As `integer`, and also accepts a string of decimal digits: Lua's numbers have only 53 bits.
    [[nodiscard]] std::int64_t number(
        std::int64_t lowest, std::int64_t highest = std::numeric_limits<std::int64_t>::max()) const;
    [[nodiscard]] std::uint64_t count() const { return static_cast<std::uint64_t>(number(0)); }
    // A number that another program has stored, as a string or an integer; 0 for anything else.
    [[nodiscard]] std::uint64_t foreign_count() const;
    [[nodiscard]] std::uint32_t permits() const;
    [[nodiscard]] fencing_token token() const { return fencing_token(count()); }

    [[noreturn]] void fail() const;

private:
    const script& code_;
    const reply& item_;
    std::string_view subject_;
};

}  // namespace pawl::redis
