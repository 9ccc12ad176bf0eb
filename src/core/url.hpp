// URLs of lock services, taken apart. Messages never repeat user or password.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::core {

struct url {
    std::string scheme;
    std::optional<std::string> user;
    std::optional<std::string> password;
    std::string host;
    std::optional<std::uint16_t> port;
    std::string path;  // decoded, with its first slash
    std::vector<std::pair<std::string, std::string>> options;
};

// SCHEME://[USER[:PASSWORD]@][HOST][:PORT][/PATH][?KEY=VALUE&…] or SCHEME:PATH, percent-decoded.
// Throws errc::bad_url with one sentence; errc::bad_option for an option that is there twice.
[[nodiscard]] url parse_url(std::string_view text);

// What parse_url reads as the same path.
[[nodiscard]] std::string encode_path(std::string_view path);
// Adds "?name=value", or "&name=value" behind the first option.
void append_option(std::string& url, std::string_view name, std::string_view value);

// The scheme alone; empty when there is none.
[[nodiscard]] std::string_view scheme_of(std::string_view text) noexcept;

}  // namespace pawl::core
