// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "mistaken_url.hpp"

#include "../core/util/url.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace pawl {
namespace {

constexpr std::string_view host_letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
constexpr std::string_view digits = "0123456789";

// Host and port of a text that should have been a URL; empty if it may be something else.
std::string_view bare_host(std::string_view text) {
    const auto host = text.substr(0, text.find_first_of("/?#"));
    const auto colon = host.rfind(':');
    auto name = host.substr(0, colon);
    const auto port = colon == std::string_view::npos ? "" : host.substr(colon + 1);
    if (name.starts_with('[') && name.ends_with(']')) {
        name = name.substr(1, name.size() - 2);
        if (name.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos) return {};
    } else if (name.find_first_not_of(host_letters) != std::string_view::npos) {
        return {};
    }
    if (name.empty() || port.find_first_not_of(digits) != std::string_view::npos) return {};
    return colon != std::string_view::npos && port.empty() ? std::string_view{} : host;
}

bool looks_like_a_path(std::string_view text) {
    return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
           text.starts_with("~/") || text.ends_with(".db") || text.ends_with(".sqlite");
}

std::string to_lower(std::string_view text) {
    std::string result(text);
    for (char& each : result)
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    return result;
}

// Levenshtein's distance: insertions, deletions and replacements.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
            diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
        }
    }
    return row.back();
}

struct foreign_scheme {
    std::string_view name;
    std::string_view suggested_scheme;  // the scheme that the advice recommends
    std::string_view advice;
};

constexpr std::string_view sentinel_advice =
    "; the master of Sentinels is redis+sentinel://HOST1,HOST2,HOST3/MASTER-NAME.";
constexpr std::string_view tls_sentinel_advice =
    "; the master of Sentinels over TLS is rediss+sentinel://HOST1,HOST2,HOST3/MASTER-NAME.";
constexpr std::string_view cluster_advice =
    "; a Redis Cluster is redis+cluster://HOST1,HOST2,HOST3.";
constexpr std::string_view tls_cluster_advice =
    "; a Redis Cluster over TLS is rediss+cluster://HOST1,HOST2,HOST3.";
constexpr std::string_view http_advice =
    ", which does not speak HTTP; write redis://HOST, or rediss://HOST for TLS.";
constexpr std::string_view unix_socket_advice =
    "; a unix socket of Redis is redis+unix:///path/to/socket.";

constexpr std::array foreign_schemes{
    foreign_scheme{"redis-sentinel", "redis+sentinel", sentinel_advice},
    foreign_scheme{"rediss-sentinel", "rediss+sentinel", tls_sentinel_advice},
    foreign_scheme{"sentinel", "redis+sentinel", sentinel_advice},
    foreign_scheme{"redis-cluster", "redis+cluster", cluster_advice},
    foreign_scheme{"rediss-cluster", "rediss+cluster", tls_cluster_advice},
    foreign_scheme{"http", "redis", http_advice},
    foreign_scheme{"https", "redis", http_advice},
    foreign_scheme{"unix", "redis+unix", unix_socket_advice},
    foreign_scheme{"redis-socket", "redis+unix", unix_socket_advice},
    foreign_scheme{"valkey", "redis",
                   "; Valkey speaks the protocol of Redis, so write redis://HOST."},
    foreign_scheme{"valkeys", "rediss",
                   "; Valkey speaks the protocol of Redis, so write rediss://HOST for TLS."},
    foreign_scheme{"tcp", "redis", "; the scheme of a Redis server is redis://."},
    foreign_scheme{"tls", "rediss", "; the scheme of Redis over TLS is rediss://."},
    foreign_scheme{"file", "sqlite", "; a lock file is sqlite:/path/to/file."}};

std::string with_delimiter(std::string_view scheme) {
    return std::string(scheme) + (scheme.starts_with("red") ? "://" : ":");
}

std::string list_schemes(std::span<const std::string_view> schemes) {
    std::string text;
    for (const auto each : schemes)
        text += (text.empty() ? "" : ", ") + with_delimiter(each);
    return text;
}

// The nearest known scheme that is at most two letters away; empty if there is none.
std::string_view nearest_scheme(std::string_view scheme,
                                std::span<const std::string_view> schemes) {
    std::string_view best;
    std::size_t shortest = 3;
    for (const auto each : schemes) {
        const auto letters_away = edit_distance(to_lower(scheme), each);
        if (letters_away >= shortest || letters_away * 2 >= each.size()) continue;
        shortest = letters_away;
        best = each;
    }
    return best;
}

// For redis//host and the like, without the colon.
std::string_view without_colon(std::string_view url, std::span<const std::string_view> schemes) {
    const auto slashes = url.find("//");
    if (slashes == std::string_view::npos) return {};
    const auto scheme = url.substr(0, slashes);
    return scheme.find(':') == std::string_view::npos ? nearest_scheme(scheme, schemes)
                                                      : std::string_view{};
}

// For a URL that is a scheme without its colon.
std::string sentence_of_scheme_only(std::string_view url,
                                    std::span<const std::string_view> schemes) {
    if (std::ranges::find(schemes, url) == schemes.end()) return {};
    const std::string begin = "The URL is only a scheme; write ";
    if (url == "memory") return begin + "memory:.";
    if (url == "sqlite") return begin + "sqlite:/path/to/file.";
    return begin + with_delimiter(url) + (url == "redis+unix" ? "/path/to/socket." : "HOST.");
}

std::string sentence_without_scheme(std::string_view url,
                                    std::span<const std::string_view> schemes) {
    const auto is_known = [&](std::string_view scheme) {
        return std::ranges::find(schemes, scheme) != schemes.end();
    };
    if (const auto scheme = without_colon(url, schemes); !scheme.empty()) {
        const auto host = bare_host(url.substr(url.find("//") + 2));
        return "The URL has no ':' after its scheme; did you mean " + with_delimiter(scheme) +
               (scheme.starts_with("redis") ? std::string(host) : "") + "?";
    }
    if (looks_like_a_path(url) && is_known("sqlite"))
        return "The URL is a path without a scheme; did you mean sqlite:" + std::string(url) + "?";
    if (const auto host = bare_host(url); !host.empty() && is_known("redis"))
        return "The URL has no scheme; did you mean redis://" + std::string(host) + "?";
    return {};
}

}  // namespace

std::string sentence_for_mistaken_url(std::string_view url,
                                      std::span<const std::string_view> schemes) {
    if (auto sentence = sentence_of_scheme_only(url, schemes); !sentence.empty()) return sentence;
    const auto scheme = core::scheme_of(url);
    // localhost:6379 and locks.db have no scheme; file:/var/locks.db has one.
    const bool has_scheme =
        !scheme.empty() && url.substr(scheme.size() + 1).starts_with(scheme == "file" ? "" : "//");
    if (!has_scheme) {
        if (auto sentence = sentence_without_scheme(url, schemes); !sentence.empty())
            return sentence;
    }
    for (const auto& [name, needs, advice] : foreign_schemes) {
        if (name == to_lower(scheme) && std::ranges::find(schemes, needs) != schemes.end())
            return "'" + std::string(scheme) + "' is not a scheme of Pawl" + std::string(advice);
    }
    const std::string unknown =
        "'" + std::string(scheme) + "' is not a scheme that this build knows";
    if (const auto meant = nearest_scheme(scheme, schemes); !meant.empty())
        return unknown + "; did you mean " + with_delimiter(meant) + "?";
    return (scheme.empty() ? "The URL has no scheme" : unknown) +
           "; begin with one of: " + list_schemes(schemes) + ".";
}

std::string sentence_for_missing_slashes(std::string_view url) {
    const auto scheme = core::scheme_of(url);
    if (scheme != "redis" && scheme != "rediss" && scheme != "redis+unix") return {};
    auto rest = url.substr(scheme.size() + 1);
    if (rest.starts_with("//")) return {};
    const std::string begin = with_delimiter(scheme);
    if (scheme == "redis+unix")
        return "The URL has no '//' after its scheme; write redis+unix:///path/to/socket.";
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const auto host = bare_host(rest);
    return "The URL has no '//' after its scheme; write " + begin +
           (host.empty() ? "HOST" : std::string(host)) + ".";
}

}  // namespace pawl
