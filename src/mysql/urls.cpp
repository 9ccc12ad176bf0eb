// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/backend_urls.hpp"
#include "../core/util/url.hpp"
#include "../net/option_values.hpp"
#include "../sql/shedlock_table.hpp"

#include <pawl/mysql.hpp>

#include <array>
#include <utility>

namespace pawl::mysql {
namespace {

constexpr std::array foreign_schemes{
    core::foreign_scheme{"mysqls", "; MySQL over TLS is mysql://HOST?tls=yes."},
    core::foreign_scheme{"mysqlx", "; Pawl uses the classic protocol: mysql://HOST:3306."},
    core::foreign_scheme{"maria", "; write mariadb://HOST."}};

lock_kind parse_kind(const std::string& value) {
    if (value == "lease") return lock_kind::lease;
    if (value == "session") return lock_kind::session;
    if (value == "row") return lock_kind::row;
    throw error(errc::bad_url,
                "The URL's option mode=" + value + " is not valid; use lease, session or row.");
}

void apply_option(options& target, const std::string& name, const std::string& value) {
    if (value.empty())
        throw error(errc::bad_url,
                    "The URL's option " + name + "= is empty; give it a value, or leave it out.");
    if (name == "namespace") {
        target.name_space = value;
    } else if (name == "make_schema") {
        target.make_schema = net::parse_yes_no(name, value);
    } else if (name == "push") {
        target.push = net::parse_yes_no(name, value);
    } else if (name == "tls") {
        target.tls.enabled = net::parse_yes_no(name, value);
    } else if (name == "password_file") {
        target.password_file = value;
    } else if (name == "password_env") {
        if (!target.password.empty()) throw net::several_passwords_error("");
        target.password = net::password_in_environment(value);
    } else if (name == "after_failover") {
        if (value != "wait" && value != "go")
            throw error(errc::bad_url, "The URL's option after_failover=" + value +
                                           " is not valid; use wait or go.");
        target.after_failover = value == "go" ? after_failover::go : after_failover::wait;
    } else if (name == "mode") {
        target.kind = parse_kind(value);
    } else if (name == "one_node") {
        target.one_node = net::parse_yes_no(name, value);
    } else if (!net::apply_tls_option(target.tls, "", name, value, "")) {
        throw error(errc::bad_url, "The URL's option '" + name +
                                       "' is unknown; mysql:// has namespace, make_schema, push, "
                                       "after_failover, mode, one_node, tls, ca, cert, cert_key, "
                                       "verify, tls_name, password_env and password_file, and for "
                                       "ShedLock's table " +
                                       std::string(sql::shedlock_url_options::names) + ".");
    }
}

}  // namespace

options parse(std::string_view text) {
    const auto url = core::parse_url(text);
    options settings;
    if (url.user) settings.user = *url.user;
    if (url.password) settings.password = *url.password;
    if (!url.hosts.empty()) settings.servers.clear();
    for (const auto& each : url.hosts) {
        server target;
        if (!each.host.empty()) target.host = each.host;
        if (each.port) target.port = *each.port;
        settings.servers.push_back(std::move(target));
    }
    if (url.path.size() > 1) settings.schema = url.path.substr(1);
    sql::shedlock_url_options shedlock;
    for (const auto& [name, value] : url.options)
        if (!shedlock.apply(name, value)) apply_option(settings, name, value);
    settings.shedlock = shedlock.table();
    return settings;
}

service at(std::string_view url) { return at(parse(url)); }

extern const core::backend_urls urls;  // for the table of from_url()
constinit const core::backend_urls urls{.open = at, .foreign_schemes = foreign_schemes};

}  // namespace pawl::mysql
