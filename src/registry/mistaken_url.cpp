// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "mistaken_url.hpp"

#include "../core/util/url.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace pawl {
namespace {

constexpr std::string_view host_letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

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
    if (name.empty() || port.find_first_not_of("0123456789") != std::string_view::npos) return {};
    return colon != std::string_view::npos && port.empty() ? std::string_view{} : host;
}

bool looks_like_a_path(std::string_view text, std::string_view scheme) {
    return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
           text.starts_with("~/") || text.ends_with(".db") ||
           text.ends_with("." + std::string(scheme));
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

std::string with_delimiter(const url_scheme& scheme) {
    return std::string(scheme.name).append(scheme.delimiter);
}

std::string list_schemes(std::span<const url_scheme> schemes) {
    std::string text;
    for (const auto& each : schemes)
        text += (text.empty() ? "" : ", ") + with_delimiter(each);
    return text;
}

// The nearest known scheme that is at most two letters away; null if there is none.
const url_scheme* nearest_scheme(std::string_view scheme, std::span<const url_scheme> schemes) {
    const url_scheme* best = nullptr;
    std::size_t shortest = 3;
    for (const auto& each : schemes) {
        const auto letters_away = edit_distance(to_lower(scheme), each.name);
        if (letters_away >= shortest || letters_away * 2 >= each.name.size()) continue;
        shortest = letters_away;
        best = &each;
    }
    return best;
}

// For redis//host and the like, without the colon.
const url_scheme* without_colon(std::string_view url, std::span<const url_scheme> schemes) {
    const auto slashes = url.find("//");
    if (slashes == std::string_view::npos) return nullptr;
    const auto scheme = url.substr(0, slashes);
    return scheme.find(':') == std::string_view::npos ? nearest_scheme(scheme, schemes) : nullptr;
}

// For a URL that is a scheme without its colon.
std::string sentence_of_scheme_only(std::string_view url, std::span<const url_scheme> schemes) {
    const auto known = std::ranges::find(schemes, url, &url_scheme::name);
    if (known == schemes.end()) return {};
    return "The URL is only a scheme; write " + with_delimiter(*known).append(known->rest) + ".";
}

// The first scheme of a server, which stands for all of them in an example; null if there is none.
const url_scheme* host_scheme(std::span<const url_scheme> schemes) {
    const auto first = std::ranges::find_if(
        schemes, [](const auto& each) { return each.has_hosts() && !each.has_path(); });
    return first == schemes.end() ? nullptr : &*first;
}

std::string sentence_without_scheme(std::string_view url, std::span<const url_scheme> schemes) {
    if (const auto* scheme = without_colon(url, schemes)) {
        const auto host = bare_host(url.substr(url.find("//") + 2));
        return "The URL has no ':' after its scheme; did you mean " + with_delimiter(*scheme) +
               (scheme->has_hosts() ? std::string(host) : "") + "?";
    }
    const auto file = std::ranges::find_if(schemes, &url_scheme::is_file);
    // A scheme with a slip is no part of a path.
    const bool is_path = file != schemes.end() && looks_like_a_path(url, file->name) &&
                         nearest_scheme(core::scheme_of(url), schemes) != &*file;
    if (is_path)
        return "The URL is a path without a scheme; did you mean " +
               with_delimiter(*file).append(url) + "?";
    if (const auto host = bare_host(url); !host.empty() && host_scheme(schemes) != nullptr)
        return "The URL has no scheme; did you mean " + example_of_host(schemes, host) + "?";
    return {};
}

// For a URL of Java, which begins with jdbc: and may go on with a known scheme.
std::string sentence_of_jdbc(std::string_view url, std::span<const url_scheme> schemes) {
    constexpr std::string_view begin = "jdbc:";
    if (!url.starts_with(begin)) return {};
    const auto scheme = core::scheme_of(url.substr(begin.size()));
    const auto known = std::ranges::find(schemes, scheme, &url_scheme::name);
    if (known == schemes.end()) return {};
    return "'jdbc' is not a scheme of Pawl; write " + with_delimiter(*known).append(known->rest) +
           ".";
}

const core::foreign_scheme* find_foreign_scheme(std::string_view name,
                                                std::span<const url_scheme> schemes) {
    for (const auto& each : schemes)
        for (const auto& foreign : each.backend->foreign_schemes)
            if (foreign.name == name) return &foreign;
    return nullptr;
}

}  // namespace

std::string sentence_for_mistaken_url(std::string_view url, std::span<const url_scheme> schemes) {
    if (auto sentence = sentence_of_scheme_only(url, schemes); !sentence.empty()) return sentence;
    if (auto sentence = sentence_of_jdbc(url, schemes); !sentence.empty()) return sentence;
    const auto scheme = core::scheme_of(url);
    // localhost:6379 and locks.db have no scheme; file:/var/locks.db has one.
    const bool has_scheme =
        !scheme.empty() && url.substr(scheme.size() + 1).starts_with(scheme == "file" ? "" : "//");
    if (!has_scheme) {
        if (auto sentence = sentence_without_scheme(url, schemes); !sentence.empty())
            return sentence;
    }
    const auto quoted = "'" + std::string(scheme) + "'";
    if (const auto* foreign = find_foreign_scheme(to_lower(scheme), schemes))
        return quoted + " is not a scheme of Pawl" + std::string(foreign->advice);
    const auto unknown = quoted + " is not a scheme that this build knows";
    if (const auto* meant = nearest_scheme(scheme, schemes))
        return unknown + "; did you mean " + with_delimiter(*meant) + "?";
    return (scheme.empty() ? "The URL has no scheme" : unknown) +
           "; begin with one of: " + list_schemes(schemes) + ".";
}

std::string sentence_for_missing_slashes(std::string_view url, const url_scheme& scheme) {
    auto rest = url.substr(scheme.name.size() + 1);
    if (!scheme.has_hosts() || rest.starts_with("//")) return {};
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const auto host = scheme.has_path() ? std::string_view{} : bare_host(rest);
    return "The URL has no '//' after its scheme; write " +
           with_delimiter(scheme).append(host.empty() ? scheme.rest : host) + ".";
}

std::string example_of_host(std::span<const url_scheme> schemes, std::string_view host) {
    const auto* scheme = host_scheme(schemes);
    return (scheme == nullptr ? "SCHEME://" : with_delimiter(*scheme)).append(host);
}

}  // namespace pawl
