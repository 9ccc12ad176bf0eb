// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "options.hpp"

#include "sentinel_options.hpp"
#include "where.hpp"

#include "../../core/util/duration_text.hpp"
#include "../../net/option_values.hpp"

#include <pawl/error.hpp>

namespace pawl::redis {
namespace {

// Without a bound, a very long timeout would overflow when it is added to the present time.
constexpr duration longest_timeout = std::chrono::hours(24);
constexpr core::duration_range url_timeouts{std::chrono::milliseconds(1), std::chrono::minutes(10),
                                            "1ms to 10min"};
constexpr core::duration_range retentions{std::chrono::seconds(1), std::chrono::hours(365 * 24),
                                          "1s to 365d"};

key_layout parse_layout(const std::string& text) {
    if (text == "native") return key_layout::native;
    if (text == "redisson") return key_layout::redisson;
    throw error(errc::bad_url, "The URL's option layout=" + text +
                                   " is unknown; use layout=native, or layout=redisson for locks "
                                   "that Java services take with Redisson.");
}

redisson_object parse_object(const std::string& text) {
    if (text == "lock") return redisson_object::lock;
    if (text == "readwrite") return redisson_object::readwrite;
    if (text == "semaphore") return redisson_object::semaphore;
    throw error(errc::bad_url, "The URL's option object=" + text +
                                   " is unknown; use lock, readwrite or semaphore, which are "
                                   "objects of Redisson.");
}

// The flags tell whether an option was given. In a URL, an option counts as given even with its
// default value; in an `options` object of a program, only another value than the default does.
void check_layout(key_layout layout, bool name_space_given, bool object_given,
                  bool retention_given) {
    if (layout == key_layout::redisson && name_space_given)
        throw error(errc::bad_option,
                    "Redisson's layout has no namespace; leave it out, or set the key template "
                    "(key=PREFIX:{name}) as the NameMapper of the Java side does.");
    if (layout != key_layout::redisson && object_given)
        throw error(
            errc::bad_option,
            "Only Redisson's layout has objects; add layout=redisson, or leave out object.");
    if (layout == key_layout::redisson && retention_given)
        throw error(errc::bad_option,
                    "The counters of Redisson's layout never expire; leave out "
                    "token_retention, or layout=redisson.");
}

// The namespace is part of a lock's other keys, and all users of a lock must use the same keys.
void check_template(const options& server_options, bool name_space_given) {
    if (server_options.key.empty()) return;
    if (name_space_given)
        throw error(errc::bad_option,
                    "A key template and a namespace cannot be combined: readers and holders of "
                    "permits in two namespaces would not know of each other. Leave out namespace, "
                    "or leave out key.");
    if (server_options.key == server_options.name_space + ":{{name}}")
        throw error(errc::bad_option,
                    "The key template " + server_options.key +
                        " is the key that Pawl's locks have without one; leave out key.");
}

std::string known_options(const where& servers, const std::string& tls_scheme) {
    const std::string common_options =
        "namespace, key, layout, object, scripts, password_file, password_env, connect_timeout, "
        "reply_timeout";
    if (std::holds_alternative<unix_socket>(servers))
        return common_options + ", token_retention and database";
    const std::string tls_options =
        "ca, cert, cert_key, cert_key_password_file, cert_key_password_env, verify "
        "and tls_name";
    if (!std::holds_alternative<sentinels>(servers))
        return common_options + ", token_retention and, with " + tls_scheme + ", " + tls_options;
    return common_options +
           ", token_retention, sentinel_user, sentinel_password_file, "
           "sentinel_password_env, sentinel_tls, and with TLS " +
           tls_options + ", also with sentinel_ before them";
}

// An empty value most likely comes from an unset variable of a script.
void check_not_empty(const std::string& name, const std::string& value) {
    if (value.empty())
        throw error(errc::bad_url,
                    "The URL's option " + name + "= is empty; give it a value, or leave it out.");
}

error unknown_option_error(const std::string& name, const std::string& known_names) {
    const auto begin = "The URL's option '" + name + "' is unknown; ";
    for (const std::string each : {"connect_timeout", "reply_timeout", "token_retention"})
        if (name == each + "_ms")
            return {errc::bad_url,
                    begin + "write " + each + " with a unit, as in " + each + "=5s."};
    if (name == "password")
        return {errc::bad_url,
                begin + "name a file by password_file, or a variable by password_env."};
    return {errc::bad_url, begin + "known are " + known_names + "."};
}

void apply_option(options& server_options, const std::string& name, const std::string& value,
                  const scheme_words& words) {
    const std::string tls_scheme(words.with_tls.empty() ? scheme_with_tls(server_options.where)
                                                        : words.with_tls);
    if (apply_sentinel_option(server_options, name, value)) return;
    if (net::apply_tls_option(server_options.tls, "", name, value, net::advice_to_use(tls_scheme)))
        return;
    if (name == "namespace")
        server_options.name_space = value;
    else if (name == "key")
        server_options.key = value;
    else if (name == "layout")
        server_options.layout = parse_layout(value);
    else if (name == "object")
        server_options.object = parse_object(value);
    else if (name == "scripts")
        server_options.scripts = net::parse_yes_no(name, value);
    else if (name == "password_file")
        server_options.password_file = value;
    else if (name == "password_env" && !server_options.password.empty())
        throw net::several_passwords_error("");
    else if (name == "password_env")
        server_options.password = net::password_in_environment(value);
    else if (name == "connect_timeout")
        server_options.connect_timeout = core::parse_duration_option(name, value, url_timeouts);
    else if (name == "reply_timeout")
        server_options.reply_timeout = core::parse_duration_option(name, value, url_timeouts);
    else if (name == "token_retention")
        server_options.token_retention = core::parse_duration_option(name, value, retentions);
    else
        throw unknown_option_error(name, std::string(words.more_options) +
                                             known_options(server_options.where, tls_scheme));
}

}  // namespace

void check_options(const options& server_options) {
    const options defaults;
    check_layout(server_options.layout, server_options.name_space != defaults.name_space,
                 server_options.object != defaults.object,
                 server_options.token_retention != defaults.token_retention);
    check_template(server_options, server_options.name_space != defaults.name_space);
    if (server_options.layout == key_layout::redisson && !server_options.scripts)
        throw error(errc::bad_option,
                    "Redisson's layout needs scripts; leave out scripts=no, or layout=redisson.");
    net::check_password({server_options.password, server_options.password_file,
                         static_cast<bool>(server_options.credentials)},
                        "");
    net::check_tls(server_options.tls, "",
                   net::advice_to_use(scheme_with_tls(server_options.where)));
    check_where(server_options);
    if (server_options.connect_timeout <= duration{} || server_options.reply_timeout <= duration{})
        throw error(errc::bad_option, "connect_timeout and reply_timeout must be above 0.");
    if (server_options.connect_timeout > longest_timeout ||
        server_options.reply_timeout > longest_timeout)
        throw error(errc::bad_option,
                    "connect_timeout and reply_timeout must be 24 h at the most.");
    if (server_options.token_retention < retentions.min ||
        server_options.token_retention > retentions.max)
        throw error(errc::bad_option, "token_retention must be between 1 s and 365 days.");
}

std::string describe(const options& server_options) {
    const options defaults;
    auto text = describe_where(server_options);
    if (server_options.name_space != defaults.name_space)
        core::append_option(text, "namespace", server_options.name_space);
    if (!server_options.key.empty()) core::append_option(text, "key", server_options.key);
    if (server_options.layout == key_layout::redisson)
        core::append_option(text, "layout", "redisson");
    if (server_options.object == redisson_object::readwrite)
        core::append_option(text, "object", "readwrite");
    if (server_options.object == redisson_object::semaphore)
        core::append_option(text, "object", "semaphore");
    return text;
}

options parse_options(std::string_view text) { return parse_options(core::parse_url(text)); }

options parse_options(const core::url& url, const scheme_words& words) {
    options server_options;
    apply_where(server_options, url);
    server_options.user = url.user.value_or("");
    server_options.password = url.password.value_or("");
    for (const auto& [name, value] : url.options) {
        check_not_empty(name, value);
        if (name == "database" && url.scheme == "redis+unix")
            server_options.database = parse_database("/" + value);
        else
            apply_option(server_options, name, value, words);
    }
    complete_sentinel_tls(server_options, url);
    check_layout(server_options.layout, net::has_option(url, "namespace"),
                 net::has_option(url, "object"), net::has_option(url, "token_retention"));
    return server_options;
}

}  // namespace pawl::redis
