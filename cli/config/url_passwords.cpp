// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "url_passwords.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace pawl::cli {

namespace {

struct span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The user and password in front of the @. A password may contain an unescaped / or ?, so the last
// @ counts.
span user_info(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) return {};
    const auto begin = scheme + 3;
    const auto authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
    auto at = authority.rfind('@');
    if (at == std::string_view::npos && authority.find(':') != std::string_view::npos) {
        at = url.substr(begin).rfind('@');
    }
    return at == std::string_view::npos ? span{} : span{begin, begin + at};
}

bool is_secret(std::string_view option) {
    const auto name = option.substr(0, option.find('='));
    return name == "password" || name == "secret" || name == "token";
}

}  // namespace

std::string without_password(std::string_view url) {
    std::string result(url);
    if (const auto info = user_info(url); info.end > info.begin) {
        const auto text = url.substr(info.begin, info.end - info.begin);
        const auto user = text.substr(0, text.find(':'));
        const auto skip = user.empty() ? 1U : 0U;  // without a user, the @ is removed, too
        result.replace(info.begin, info.end - info.begin + skip, user);
    }
    const auto query = result.find('?');
    if (query == std::string::npos) return result;

    std::string clean_url = result.substr(0, query);
    std::string_view remaining_options = std::string_view(result).substr(query + 1);
    char separator = '?';
    while (!remaining_options.empty()) {
        const auto option = remaining_options.substr(0, remaining_options.find('&'));
        remaining_options.remove_prefix(std::min(remaining_options.size(), option.size() + 1));
        if (is_secret(option)) continue;
        clean_url.append(1, separator).append(option);
        separator = '&';
    }
    return clean_url;
}

std::vector<std::string> variables_of(std::string_view url) {
    std::vector<std::string> names;
    const auto query = url.find('?');
    std::string_view remaining_options =
        query == std::string_view::npos ? "" : url.substr(query + 1);
    while (!remaining_options.empty()) {
        const auto option = remaining_options.substr(0, remaining_options.find('&'));
        remaining_options.remove_prefix(std::min(remaining_options.size(), option.size() + 1));
        const auto equals = option.find('=');
        if (equals == std::string_view::npos || !option.substr(0, equals).ends_with("_env"))
            continue;
        names.emplace_back(option.substr(equals + 1));
    }
    return names;
}

void hide_passwords(int count, char** arguments) {
    // Linux stores the arguments one behind the other. Moving them together also hides the length
    // of the password.
    char* next = arguments[0];
    char* end = next;
    for (int i = 0; i < count && arguments[i] == end; ++i)
        end += std::strlen(arguments[i]) + 1;
    for (int i = 0; i < count; ++i) {
        const std::string hidden = without_password(arguments[i]);
        const bool together = arguments[i] >= next && arguments[i] < end;
        const std::size_t before = std::strlen(arguments[i]);
        if (!together) {
            std::memset(arguments[i], 0, before);
            std::memcpy(arguments[i], hidden.c_str(), hidden.size());
            continue;
        }
        std::memcpy(next, hidden.c_str(), hidden.size() + 1);
        arguments[i] = next;
        next += hidden.size() + 1;
    }
    if (next < end) std::memset(next, 0, static_cast<std::size_t>(end - next));

    if (char* url = ::getenv("PAWL_URL")) {
        const std::string hidden = without_password(url);
        std::memset(url, 0, std::strlen(url));
        std::memcpy(url, hidden.c_str(), hidden.size());
    }
}

}  // namespace pawl::cli
