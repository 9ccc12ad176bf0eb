// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// All backends of this build, by the schemes of their URLs.
#include "mistaken_url.hpp"

#include "../core/util/url.hpp"

#include <pawl/error.hpp>
#include <pawl/service.hpp>

#include <pawl_url_schemes.hpp>

#include <algorithm>

namespace pawl {
namespace {

const url_scheme* find_scheme(std::string_view url) {
    const auto known = std::ranges::find(url_schemes, core::scheme_of(url), &url_scheme::name);
    return known == url_schemes.end() ? nullptr : &*known;
}

bool is_number(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// An '@' behind the host usually means that a password contains an unescaped '/' or '?'. Other
// error messages would then quote a part of the password.
bool has_cut_password(std::string_view rest, bool path_must_be_number) {
    const auto authority = rest.substr(0, rest.find_first_of("/?"));
    rest.remove_prefix(authority.size());
    if (rest.find('@') == std::string_view::npos) return false;
    const auto path = rest.substr(0, rest.find('?'));
    if (path_must_be_number && path.find('@') != std::string_view::npos) return true;
    // Otherwise the '@' may belong to an option or to a socket's path. It belongs to a password if
    // the text before it looks like :PASSWORD or USER:PASSWORD: its "port" is no number.
    if (authority.find('@') != std::string_view::npos) return false;
    const auto port = authority.substr(std::min(authority.rfind(':'), authority.size() - 1) + 1);
    return authority.starts_with(':') ||
           (authority.find('[') == std::string_view::npos &&
            authority.find(':') != std::string_view::npos && !is_number(port));
}

void refuse_stray_passwords(std::string_view text) {
    const auto* scheme = find_scheme(text);
    if (scheme != nullptr && !scheme->has_hosts()) return;
    if (text.find('@') == std::string_view::npos) return;
    text.remove_prefix(core::scheme_of(text).size());
    if (!text.starts_with("://"))
        throw error(
            errc::bad_url,
            "The URL has an '@' but does not begin with a scheme and '://'; write it like " +
                example_of_host(url_schemes, "user:password@host") + ".");
    if (has_cut_password(text.substr(3), scheme == nullptr || !scheme->has_path()))
        throw error(errc::bad_url,
                    "The URL has an '@' after its host; in a user or password write %2F for a "
                    "slash, %3F for a question mark and %40 for an at sign.");
}

// Quotes in a configuration file or a script leave them.
void refuse_blank_ends(std::string_view url) {
    const auto is_blank = [](char each) { return each == ' ' || each == '\t'; };
    if (url.empty()) return;
    if (is_blank(url.front()))
        throw error(errc::bad_url, "The URL begins with a blank; remove it.");
    // The path of a file may end with a blank.
    const auto* scheme = find_scheme(url);
    if (is_blank(url.back()) && (scheme == nullptr || scheme->has_hosts()))
        throw error(errc::bad_url, "The URL ends with a blank; remove it.");
}

}  // namespace

service from_url(std::string_view url) {
    refuse_blank_ends(url);
    refuse_stray_passwords(url);
    const auto* scheme = find_scheme(url);
    if (scheme == nullptr) throw error(errc::bad_url, sentence_for_mistaken_url(url, url_schemes));
    if (const auto sentence = sentence_for_missing_slashes(url, *scheme); !sentence.empty())
        throw error(errc::bad_url, sentence);
    return scheme->backend->open(url);
}

}  // namespace pawl
