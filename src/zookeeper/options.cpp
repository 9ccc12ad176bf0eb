// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "options.hpp"

#include "../core/util/duration_text.hpp"
#include "../core/util/url.hpp"
#include "../net/option_values.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::zookeeper {
namespace {

constexpr core::duration_range ticks{10ms, 1min, "10ms to 1min"};
constexpr core::duration_range timeouts{1ms, 10min, "1ms to 10min"};
constexpr core::duration_range session_lengths{1s, 24h, "1s to 24h"};
constexpr std::string_view tls_scheme = "zookeepers://";
constexpr std::string_view names =
    "make_root, object, tick, max_session, connect_timeout, password_file, password_env and, with "
    "zookeepers://, ca, cert, cert_key, cert_key_password_file, cert_key_password_env, verify and "
    "tls_name";

lock_object parse_object(const std::string& value) {
    if (value == "read_write_lock") return lock_object::read_write_lock;
    if (value == "mutex") return lock_object::mutex;
    if (value == "leader_latch") return lock_object::leader_latch;
    throw error(errc::bad_url, "The URL's option object=" + value +
                                   " is unknown; use read_write_lock, mutex or leader_latch, which "
                                   "are recipes of Curator.");
}

const char* name_of(lock_object object) noexcept {
    return object == lock_object::mutex ? "mutex" : "leader_latch";
}

void apply_option(options& target, const std::string& name, const std::string& value) {
    if (value.empty())
        throw error(errc::bad_url,
                    "The URL's option " + name + "= is empty; give it a value, or leave it out.");
    if (net::apply_tls_option(target.tls, "", name, value, net::advice_to_use(tls_scheme))) return;
    if (name == "object") {
        target.object = parse_object(value);
    } else if (name == "make_root") {
        target.make_root = net::parse_yes_no(name, value);
    } else if (name == "tick") {
        target.tick = core::parse_duration_option(name, value, ticks);
    } else if (name == "max_session") {
        target.longest_session = core::parse_duration_option(name, value, session_lengths);
    } else if (name == "connect_timeout") {
        target.connect_timeout = core::parse_duration_option(name, value, timeouts);
    } else if (name == "password_file") {
        target.password_file = value;
    } else if (name == "password_env") {
        if (!target.password.empty()) throw net::several_passwords_error("");
        target.password = net::password_in_environment(value);
    } else {
        throw error(errc::bad_url, "The URL's option '" + name + "' is unknown; zookeeper:// has " +
                                       std::string(names) + ".");
    }
}

void check_range(const std::string& option, duration value, const core::duration_range& range) {
    if (value < range.min || value > range.max)
        throw error(errc::bad_option, "The option " + option + " is " + core::duration_text(value) +
                                          "; it must be " + std::string(range.text) + ".");
}

void check_servers(const options& given) {
    if (given.servers.empty() || given.servers.size() > 16)
        throw error(errc::bad_option, "There are " + std::to_string(given.servers.size()) +
                                          " servers; name 1 to 16 of the ensemble.");
    for (const auto& each : given.servers)
        if (each.host.empty() || each.port == 0 ||
            each.host.find_first_of(", \t") != std::string::npos)
            throw error(errc::bad_option, "The server '" + each.host + ":" +
                                              std::to_string(each.port) +
                                              "' needs a host, without commas and spaces, and a "
                                              "port above 0.");
}

bool is_node_name(std::string_view node) {
    return !node.empty() && node != "." && node != ".." && std::ranges::none_of(node, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    });
}

void check_root(const std::string& root) {
    if (root == "/") return;
    bool is_valid = root.starts_with('/') && root.size() <= 1000;
    for (std::size_t begin = 1; is_valid && begin <= root.size();) {
        const auto end = std::min(root.find('/', begin), root.size());
        is_valid = is_node_name(std::string_view(root).substr(begin, end - begin));
        begin = end + 1;
    }
    if (!is_valid || root == "/zookeeper" || root.starts_with("/zookeeper/"))
        throw error(errc::bad_option, "The root '" + root +
                                          "' is no path of a node for locks; write one such as "
                                          "/app/locks, without a slash at its end, and not "
                                          "/zookeeper, which is the servers' own.");
}

}  // namespace

duration longest_session(const options& given) noexcept {
    return given.longest_session > duration{} ? given.longest_session : given.tick * 20;
}

void check_options(const options& given) {
    check_servers(given);
    check_root(given.root);
    check_range("tick", given.tick, ticks);
    check_range("connect_timeout", given.connect_timeout, timeouts);
    if (given.longest_session > duration{})
        check_range("max_session", given.longest_session, session_lengths);
    if (longest_session(given) < given.tick * 4)
        throw error(errc::bad_option,
                    "The option max_session is less than 4 ticks, which leaves no time for a ttl; "
                    "raise it, and maxSessionTimeout of the servers.");
    if (given.user.find(':') != std::string::npos)
        throw error(errc::bad_option,
                    "ZooKeeper's digest has no users with a colon; choose another user.");
    const bool has_password = !given.password.empty() || !given.password_file.empty();
    if (given.user.empty() == has_password)
        throw error(errc::bad_option,
                    "User and password go together; give both, such as in "
                    "zookeeper://USER:PASSWORD@HOST, or neither.");
    net::check_password({given.password, given.password_file, false}, "");
    net::check_tls(given.tls, "", net::advice_to_use(tls_scheme));
}

options parse_options(std::string_view text) {
    const auto url = core::parse_url(text);
    options given;
    given.tls.enabled = url.scheme == "zookeepers";
    if (url.user) given.user = *url.user;
    if (url.password) given.password = *url.password;
    if (!url.hosts.empty()) given.servers.clear();
    for (const auto& each : url.hosts) {
        server target;
        if (!each.host.empty()) target.host = each.host;
        if (each.port) target.port = *each.port;
        given.servers.push_back(std::move(target));
    }
    if (!url.path.empty()) given.root = url.path;
    for (const auto& [name, value] : url.options)
        apply_option(given, name, value);
    return given;
}

// Two services with this text have the same locks.
std::string describe(const options& given) {
    std::string text = given.tls.enabled ? "zookeepers://" : "zookeeper://";
    for (const auto& each : given.servers) {
        if (!text.ends_with('/')) text += ',';
        const bool is_v6 = each.host.find(':') != std::string::npos;
        text += is_v6 ? "[" + each.host + "]" : each.host;
        if (each.port != 2181) text += ":" + std::to_string(each.port);
    }
    text += core::encode_path(given.root);
    if (given.object != lock_object::read_write_lock)
        core::append_option(text, "object", name_of(given.object));
    return text;
}

}  // namespace pawl::zookeeper
