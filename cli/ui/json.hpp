// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A JSON writer (RFC 8259). Keys and values are written in the order of the calls. Bytes that are
// not UTF-8 become U+FFFD, and characters that a terminal would not show become escapes. Callers
// write fencing tokens as text, because many readers keep only 53 bits of a number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::cli {

class json {
public:
    json& begin_object() { return open('{'); }
    json& end_object() { return close('}'); }
    json& begin_array() { return open('['); }
    json& end_array() { return close(']'); }
    json& key(std::string_view name);
    json& text(std::string_view value);
    json& number(std::int64_t value);
    json& number(double value, int digits);
    json& boolean(bool value);
    json& null();

    json& field(std::string_view name, std::string_view value) { return key(name).text(value); }
    json& field(std::string_view name, const char* value) { return key(name).text(value); }
    json& field(std::string_view name, std::int64_t value) { return key(name).number(value); }
    json& field(std::string_view name, bool value) { return key(name).boolean(value); }

    [[nodiscard]] const std::string& str() const noexcept { return out_; }

private:
    json& open(char bracket);
    json& close(char bracket);
    void separate();
    void quote(std::string_view value);

    std::string out_;
    bool comma_ = false;
};

}  // namespace pawl::cli
