// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "where.hpp"

#include "sentinel_options.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace pawl::redis {
namespace {

constexpr std::size_t max_addresses = 16;

error missing_master_error() {
    return {errc::bad_url,
            "The URL names no master; write redis+sentinel://HOST1,HOST2,HOST3/MASTER-NAME, with "
            "the name of the Sentinels' configuration."};
}

template <class Address>
Address address_of(const core::host_port& named) {
    Address address;
    address.host = named.host;
    if (named.port) address.port = *named.port;
    return address;
}

template <class Address>
std::vector<Address> addresses_of(const core::url& parsed) {
    std::vector<Address> addresses;
    for (const auto& each : parsed.hosts)
        addresses.push_back(address_of<Address>(each));
    return addresses;
}

// A list of hosts most likely has Sentinels or nodes of a cluster.
void check_single_host(const core::url& parsed) {
    if (parsed.hosts.size() < 2) return;
    throw error(errc::bad_url,
                "The URL names several servers, and " + parsed.scheme +
                    ":// takes only one; for Sentinels write " + parsed.scheme +
                    "+sentinel://HOST1,HOST2,HOST3/MASTER-NAME, for a cluster " + parsed.scheme +
                    "+cluster://HOST1,HOST2,HOST3, for Redlock over independent "
                    "servers redlock" +
                    (parsed.scheme == "rediss" ? "s" : "") + "://HOST1,HOST2,HOST3.");
}

unix_socket parse_unix_socket(const core::url& parsed) {
    if (!parsed.hosts.empty())
        throw error(errc::bad_url,
                    "A redis+unix: URL has no host; write redis+unix:///path/to/socket.");
    if (parsed.path.empty())
        throw error(errc::bad_url, "The URL names no socket; write redis+unix:///path/to/socket.");
    return {parsed.path};
}

// Leaves the rest of the path, which may name a database.
sentinels parse_sentinels(const core::url& parsed, std::string& path) {
    sentinels result;
    result.addresses = addresses_of<sentinel_address>(parsed);
    if (result.addresses.empty())
        throw error(errc::bad_url,
                    "The URL names no Sentinel; write redis+sentinel://HOST1,HOST2,HOST3/"
                    "MASTER-NAME.");
    if (path.size() < 2) throw missing_master_error();
    const auto end = std::min(path.find('/', 1), path.size());
    result.master_name = path.substr(1, end - 1);
    if (result.master_name.empty()) throw missing_master_error();
    path.erase(0, end);
    return result;
}

cluster parse_cluster(const core::url& parsed) {
    if (parsed.hosts.empty())
        throw error(errc::bad_url,
                    "The URL names no node; write redis+cluster://HOST1,HOST2,HOST3.");
    if (parsed.path.size() > 1 && parsed.path != "/0")
        throw error(errc::bad_url, "A cluster has only database 0; leave out '" +
                                       parsed.path.substr(1) + "' behind the hosts.");
    return {addresses_of<server>(parsed)};
}

void check(const server& single, const options&) {
    if (single.host.empty())
        throw error(errc::bad_option, "The URL names no host; write redis://localhost.");
}

void check(const unix_socket& socket, const options& server_options) {
    if (socket.path.empty())
        throw error(errc::bad_option, "The unix socket has no path; give one.");
    if (socket.path.size() > 107)
        throw error(errc::bad_option, "The path of the unix socket is longer than 107 bytes.");
    if (server_options.tls.enabled)
        throw error(errc::bad_option, "A unix socket has no TLS; use redis+unix:// without it.");
}

void check(const sentinels& set, const options&) {
    if (set.addresses.empty())
        throw error(errc::bad_option,
                    "There are options for Sentinels, but no Sentinel's address; give one.");
    if (set.master_name.empty())
        throw error(errc::bad_option,
                    "The Sentinels' name of the master is missing; give master_name.");
    if (set.addresses.size() > max_addresses)
        throw error(errc::bad_option,
                    "There are more than 16 Sentinels; give the addresses of some "
                    "of them, which know the others.");
    for (const auto& each : set.addresses)
        if (each.host.empty())
            throw error(errc::bad_option,
                        "A Sentinel's address has no host; give a host for each.");
    check_sentinel_access(set);
}

void check(const cluster& servers, const options& server_options) {
    if (servers.nodes.empty())
        throw error(errc::bad_option, "The cluster has no node's address; give one.");
    if (server_options.database != 0)
        throw error(errc::bad_option, "A cluster has only database 0; leave out the database.");
    if (servers.nodes.size() > max_addresses)
        throw error(errc::bad_option,
                    "There are more than 16 nodes; give some of them, which know the others.");
    for (const auto& each : servers.nodes)
        if (each.host.empty())
            throw error(errc::bad_option, "A node's address has no host; give a host for each.");
}

template <class Address>
std::string text_of(const std::vector<Address>& addresses) {
    std::string text;
    for (const auto& [host, port] : addresses)
        text += (text.empty() ? "" : ",") + net::text_of(net::endpoint{host, port});
    return text;
}

}  // namespace

void apply_where(options& server_options, const core::url& parsed) {
    const auto scheme = parsed.scheme.substr(0, parsed.scheme.find('+'));
    const auto kind = parsed.scheme.substr(scheme.size());
    const bool has_tls = scheme == "rediss";
    auto path = parsed.path;
    if (parsed.scheme == "redis+unix") {
        server_options.where = parse_unix_socket(parsed);
        return;
    }
    if ((scheme != "redis" && !has_tls) ||
        (!kind.empty() && kind != "+sentinel" && kind != "+cluster"))
        throw error(errc::bad_url, "'" + parsed.scheme +
                                       "' is not a scheme of Redis; use redis, rediss, redis+unix, "
                                       "redis+sentinel, rediss+sentinel, redis+cluster or "
                                       "rediss+cluster.");
    if (kind.empty()) {
        check_single_host(parsed);
        server_options.where = address_of<server>(core::single_host(parsed));
    } else if (kind == "+sentinel") {
        server_options.where = parse_sentinels(parsed, path);
    } else {
        server_options.where = parse_cluster(parsed);
    }
    server_options.database = parse_database(path);
    server_options.tls.enabled = has_tls;
}

std::uint32_t parse_database(std::string_view path) {
    std::uint32_t number = 0;
    const auto digits = path.substr(std::min<std::size_t>(path.size(), 1));
    if (digits.empty()) return 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size())
        throw error(errc::bad_url,
                    "'" + std::string(digits) +
                        "' is not a database; the path of a Redis URL is its number, as in /0.");
    return number;
}

void check_where(const options& server_options) {
    std::visit([&](const auto& servers) { check(servers, server_options); }, server_options.where);
}

std::string_view scheme_with_tls(const where& servers) noexcept {
    if (std::holds_alternative<cluster>(servers)) return "rediss+cluster://";
    return std::holds_alternative<sentinels>(servers) ? "rediss+sentinel://" : "rediss://";
}

std::string describe_where(const options& server_options) {
    if (const auto* socket = std::get_if<unix_socket>(&server_options.where)) {
        auto text = "redis+unix://" + core::encode_path(socket->path);
        if (server_options.database != 0)
            core::append_option(text, "database", std::to_string(server_options.database));
        return text;
    }
    std::string text(scheme_with_tls(server_options.where));
    if (!server_options.tls.enabled) text.erase(std::string_view("redis").size(), 1);
    if (const auto* servers = std::get_if<cluster>(&server_options.where))
        return text + text_of(servers->nodes);
    if (const auto* set = std::get_if<sentinels>(&server_options.where))
        text += text_of(set->addresses) + "/" + core::encode_path(set->master_name);
    else
        text += net::text_of(endpoint_of(server_options));
    return text + "/" + std::to_string(server_options.database);
}

net::endpoint endpoint_of(const options& server_options) {
    net::endpoint result;
    if (const auto* socket = std::get_if<unix_socket>(&server_options.where))
        result.unix_socket = socket->path;
    else if (const auto* single = std::get_if<server>(&server_options.where))
        result = net::make_endpoint(single->host, single->port, server_options.tls);
    return result;
}

}  // namespace pawl::redis
