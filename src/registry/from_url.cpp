// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// All backends of this build, by the schemes of their URLs.
#include "mistaken_url.hpp"

#include "../core/util/url.hpp"

#include <pawl/error.hpp>
#include <pawl/memory.hpp>
#include <pawl/service.hpp>
#if PAWL_WITH_REDIS
#include <pawl/redis.hpp>
#include <pawl/redlock.hpp>
#endif
#if PAWL_WITH_SQLITE
#include <pawl/sqlite.hpp>
#endif

#include <algorithm>
#include <array>
#include <vector>

namespace pawl {
namespace {

service memory_at(std::string_view text) {
    const auto url = core::parse_url(text);
    if (!url.options.empty()) throw error(errc::bad_url, "A memory: URL has no options.");
    if (!url.hosts.empty())
        throw error(errc::bad_url, "A memory: URL has no host; write memory: or memory:NAME.");
    return url.path.empty() ? memory::make() : memory::named(url.path);
}

#if PAWL_WITH_SQLITE
service sqlite_at(std::string_view text) {
    const auto url = core::parse_url(text);
    sqlite::options file_options;
    if (!url.hosts.empty())
        throw error(errc::bad_url, "A sqlite: URL has no host; write sqlite:/path or sqlite:path.");
    file_options.path = url.path;
    for (const auto& [name, value] : url.options) {
        if (name != "namespace")
            throw error(errc::bad_url,
                        "The URL's option '" + name + "' is unknown; sqlite: has namespace.");
        file_options.name_space = value;
    }
    return sqlite::at(std::move(file_options));
}
#endif

#if PAWL_WITH_REDIS
service redis_at(std::string_view text) { return redis::at(text); }
service redlock_at(std::string_view text) { return redlock::at(text); }
#endif

struct entry {
    std::string_view scheme;
    service (*open)(std::string_view url);
};

constexpr std::array backends {
#if PAWL_WITH_REDIS
    entry{"redis", redis_at}, entry{"rediss", redis_at}, entry{"redis+unix", redis_at},
        entry{"redis+sentinel", redis_at}, entry{"rediss+sentinel", redis_at},
        entry{"redis+cluster", redis_at}, entry{"rediss+cluster", redis_at},
        entry{"redlock", redlock_at}, entry{"redlocks", redlock_at},
#endif
#if PAWL_WITH_SQLITE
        entry{"sqlite", sqlite_at},
#endif
        entry{"memory", memory_at},
};

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
    const auto scheme = core::scheme_of(text);
    if (scheme == "sqlite" || scheme == "memory") return;
    if (text.find('@') == std::string_view::npos) return;
    text.remove_prefix(scheme.size());
    if (!text.starts_with("://"))
        throw error(errc::bad_url,
                    "The URL has an '@' but does not begin with a scheme and '://'; write it like "
                    "redis://user:password@host.");
    if (has_cut_password(text.substr(3), scheme != "redis+unix"))
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
    const auto scheme = core::scheme_of(url);
    if (is_blank(url.back()) && scheme != "sqlite" && scheme != "memory")
        throw error(errc::bad_url, "The URL ends with a blank; remove it.");
}

}  // namespace

service from_url(std::string_view url) {
    refuse_blank_ends(url);
    refuse_stray_passwords(url);
    if (const auto sentence = sentence_for_missing_slashes(url); !sentence.empty())
        throw error(errc::bad_url, sentence);
    const auto scheme = core::scheme_of(url);
    std::vector<std::string_view> schemes;
    for (const auto& [known, open] : backends) {
        if (known == scheme) return open(url);
        schemes.push_back(known);
    }
    throw error(errc::bad_url, sentence_for_mistaken_url(url, schemes));
}

}  // namespace pawl
