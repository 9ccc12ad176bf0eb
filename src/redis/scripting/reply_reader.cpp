// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "reply_reader.hpp"

#include "../transport/numbers.hpp"

#include <pawl/error.hpp>

#include <charconv>

namespace pawl::redis {

void reply_reader::fail() const {
    throw error(errc::protocol, std::string(subject_) + ": an unexpected reply to the script " +
                                    std::string(code_.name) +
                                    "; run `pawl doctor` to see what kind of server this is.");
}

std::size_t reply_reader::size() const {
    if (!is_array()) fail();
    return item_.items.size();
}

void reply_reader::expect_size(std::size_t expected) const {
    if (size() != expected) fail();
}

reply_reader reply_reader::at(std::size_t index) const {
    if (index >= size()) fail();
    return {code_, item_.items[index], subject_};
}

const std::string& reply_reader::text() const {
    if (item_.type != reply::kind::string) fail();
    return item_.text;
}

std::int64_t reply_reader::integer(std::int64_t lowest, std::int64_t highest) const {
    if (item_.type != reply::kind::integer || item_.number < lowest || item_.number > highest)
        fail();
    return item_.number;
}

std::int64_t reply_reader::number(std::int64_t lowest, std::int64_t highest) const {
    if (item_.type == reply::kind::integer) return integer(lowest, highest);
    std::int64_t value = 0;
    const auto& digits = text();
    const auto* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end || value < lowest || value > highest) fail();
    return value;
}

std::uint64_t reply_reader::foreign_count() const {
    const auto value = parse_number(item_);
    return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

std::uint32_t reply_reader::permits() const {
    return static_cast<std::uint32_t>(number(0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace pawl::redis
