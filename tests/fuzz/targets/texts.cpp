// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Texts that people write: URLs, templates, times, configuration files.
#include "targets.hpp"

#include <config/config_file.hpp>
#include <config/url_passwords.hpp>
#include <ui/duration.hpp>
#include <ui/failure.hpp>
#include <ui/style.hpp>
#include <verbs/arguments.hpp>

#include <core/util/url.hpp>
#include <redis/common/keys.hpp>

#include <pawl/error.hpp>
#include <pawl/parse_duration.hpp>
#include <pawl/service.hpp>

#include <algorithm>
#include <span>
#include <string>

namespace fuzz {

namespace {

// One line that can be shown to people.
void check_sentence(const std::string& sentence) {
    if (sentence.empty()) fail("a refusal without a word");
    static_cast<void>(pawl::cli::printable(sentence));
}

// The URL of a command must name the same locks as the URL that was given.
void check_same_service(std::string_view input, std::string_view described) {
    pawl::core::url before, after;
    try {
        before = pawl::core::parse_url(input);
    } catch (const pawl::error&) {
        return;
    }
    after = pawl::core::parse_url(described);
    if (after.password) fail("a URL without its password has a password");
    const auto is_secret = [](const auto& option) {
        return option.first == "password" || option.first == "secret" || option.first == "token";
    };
    std::erase_if(before.options, is_secret);
    std::erase_if(after.options, is_secret);
    const auto is_same_host = [](const auto& left, const auto& right) {
        return left.host == right.host && left.port == right.port;
    };
    if (!std::ranges::equal(before.hosts, after.hosts, is_same_host) ||
        before.scheme != after.scheme || before.path != after.path || before.user != after.user ||
        before.options != after.options)
        fail("a URL without its password is another URL");
}

}  // namespace

void urls(std::string_view input) {
    // These read files or the environment, which is not tested here.
    for (const char* option : {"password_file", "password_env"}) {
        if (input.find(option) != std::string_view::npos) return;
    }
    const auto described = pawl::cli::without_password(input);
    check_same_service(input, described);
    if (pawl::cli::hide_password(input).size() > input.size())
        fail("a URL with its password hidden is longer");
    static_cast<void>(pawl::cli::variables_of(input));
    static_cast<void>(pawl::redacted(input));
    try {
        const auto parsed_service = pawl::from_url(input);
        check_sentence(parsed_service.describe());
    } catch (const pawl::error& refused) {
        check_sentence(refused.what());
    }
}

// NAMESPACE, TEMPLATE and NAME, one line each.
void templates(std::string_view input) {
    const auto first = std::min(input.find('\n'), input.size());
    const auto second = std::min(input.find('\n', first + 1), input.size());
    const std::string space(input.substr(0, first));
    const std::string pattern(
        input.substr(std::min(first + 1, input.size()), second - std::min(first + 1, second)));
    const std::string name(input.substr(std::min(second + 1, input.size())));
    if (name.empty()) return;
    try {
        const pawl::redis::key_scheme scheme(space, pattern);
        const auto keys = scheme.keys_of(name);
        const auto all = keys.all();
        for (const auto beside : std::span(all).subspan(1)) {
            if (beside == keys.lock()) fail("a key beside the lock is the lock's key");
            if (scheme.name_of(beside) == name) fail("a key beside the lock is taken for the lock");
        }
        const auto parsed_name = scheme.name_of(keys.lock());
        if (!scheme.is_shared_with_others() && parsed_name != name)
            fail("a name is not read as it was written");
        static_cast<void>(scheme.glob(name));
    } catch (const pawl::error& refused) {
        check_sentence(refused.what());
    }
}

void times(std::string_view input) {
    if (const auto parsed = pawl::parse_duration(input)) {
        if (*parsed < pawl::duration::zero()) fail("a duration below 0");
        check_sentence(pawl::cli::format_readable(*parsed));
        check_sentence(pawl::cli::format_exact(*parsed));
    }
    for (const auto option : {"--ttl", "--permits"}) {
        try {
            static_cast<void>(pawl::cli::finite_option(option, input, "10ms to 24h"));
        } catch (const pawl::cli::failure& refused) {
            check_sentence(refused.what());
        }
        try {
            if (pawl::cli::count_option(option, input) == 0) fail("0 permits");
        } catch (const pawl::cli::failure& refused) {
            check_sentence(refused.what());
        }
    }
}

void config(std::string_view input) {
    try {
        const auto file = pawl::cli::parse_config("/etc/pawl/pawl.conf", input);
        if (file.ttl && pawl::cli::ttl_of(*file.ttl) <= pawl::duration::zero())
            fail("a ttl that is not above 0");
        if (file.url && file.url_file) fail("two places in one file");
        for (const auto* each : {&file.url, &file.url_file, &file.name_space}) {
            if (*each && ((*each)->text.empty() || (*each)->line == 0)) fail("an empty value");
        }
    } catch (const pawl::cli::failure& refused) {
        const std::string sentence = refused.what();
        check_sentence(sentence);
        if (!sentence.starts_with("/etc/pawl/pawl.conf, line ")) fail("a refusal without its line");
        if (sentence.find('\n') != std::string::npos) fail("a refusal of two lines");
    }
}

}  // namespace fuzz
