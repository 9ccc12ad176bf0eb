// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_options.hpp"

#include "../transport/options.hpp"

#include "../../core/util/duration_text.hpp"
#include "../../core/util/url.hpp"
#include "../../net/endpoint.hpp"
#include "../../net/option_values.hpp"

#include <pawl/error.hpp>

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace pawl::redlock {
namespace {

using namespace std::chrono_literals;

constexpr core::duration_range ttl_maxima{100ms, 1h, "100ms to 1h"};
constexpr redis::scheme_words words{.more_options = "ttl_max, fenced, ", .with_tls = "redlocks://"};

std::vector<std::string> sentinels_of(const redis::options& node) {
    std::vector<std::string> sentinels;
    for (const auto& [host, port] : node.sentinel.addresses)
        sentinels.push_back(net::text_of(net::make_endpoint(host, port, {})));
    std::ranges::sort(sentinels);
    return sentinels;
}

// As in a URL. The order of the Sentinels does not matter.
std::string name_of(const redis::options& node) {
    if (node.sentinel.addresses.empty()) return net::text_of(redis::endpoint_of(node));
    const auto sentinels = sentinels_of(node);
    auto text = core::encode_path(node.sentinel.master_name);
    for (std::size_t i = 0; i < sentinels.size(); ++i)
        text += (i == 0 ? "=" : "+") + sentinels[i];
    return text;
}

// Everything that decides which keys a name means, or how long a request may take.
bool are_alike(const redis::options& node, const redis::options& other) {
    return node.name_space == other.name_space && node.key == other.key &&
           node.database == other.database && node.connect_timeout == other.connect_timeout &&
           node.reply_timeout == other.reply_timeout &&
           node.token_retention == other.token_retention && node.layout == other.layout;
}

// Whether the nodes keep the locks in a way that both Pawl and the set's other users know.
void check_storage(const redis::options& node, bool fenced) {
    if (!node.scripts) throw error(errc::bad_option, "Redlock needs scripts; leave out scripts.");
    if (node.layout == redis::key_layout::native) return;
    if (fenced)
        throw error(errc::bad_option,
                    "Redlock with fencing needs the native layout; leave out layout, or add "
                    "fenced=no to share locks with RedissonRedLock.");
    if (node.object != redis::redisson_object::lock)
        throw error(errc::bad_option,
                    "RedissonRedLock is shared as plain locks only; leave out object.");
}

// The value of an option that redis:// does not know.
std::optional<std::string> take_option(core::url& url, std::string_view name) {
    const auto option =
        std::ranges::find(url.options, name, &std::pair<std::string, std::string>::first);
    if (option == url.options.end()) return std::nullopt;
    auto value = std::move(option->second);
    url.options.erase(option);
    if (value.empty())
        throw error(errc::bad_url, "The URL's option " + std::string(name) +
                                       "= is empty; give it a value, or leave it out.");
    return value;
}

// The node whose master these Sentinels name. `url` has the scheme of one server.
redis::options monitored_node(core::url url, const core::host_group& group) {
    url.scheme += "+sentinel";
    url.hosts = group.hosts;
    url.path = "/" + group.name + url.path;
    return redis::parse_options(url, words);
}

bool is_of_sentinels(const std::pair<std::string, std::string>& option) {
    return option.first.starts_with("sentinel_");
}

std::vector<redis::options> nodes_of(core::url url) {
    const auto hosts = std::exchange(url.hosts, {});
    const auto groups = std::exchange(url.groups, {});
    const auto unused = std::ranges::find_if(url.options, is_of_sentinels);
    if (groups.empty() && unused != url.options.end())
        throw error(errc::bad_option,
                    "The URL has no node with Sentinels, as in NAME=SENTINEL1+SENTINEL2; leave "
                    "out " +
                        unused->first + ".");
    url.scheme = url.scheme == "redlocks" ? "rediss" : "redis";
    std::vector<redis::options> nodes;
    for (const auto& each : groups)
        nodes.push_back(monitored_node(url, each));
    if (hosts.empty()) return nodes;
    url.hosts = {hosts.front()};
    std::erase_if(url.options, is_of_sentinels);
    const auto common = redis::parse_options(url, words);
    for (const auto& each : hosts) {
        auto& node = nodes.emplace_back(common);
        node.host = each.host;
        node.port = each.port.value_or(redis::options().port);
    }
    return nodes;
}

error count_error(std::size_t nodes) {
    if (nodes == 0)
        return {errc::bad_option,
                "The Redlock URL names no node; give 3, 5 or 7, as in "
                "redlock://HOST1,HOST2,HOST3."};
    if (nodes % 2 == 0)
        return {errc::bad_option,
                "Redlock over " + std::to_string(nodes) +
                    " nodes survives no more failures than over one node fewer; give 3, 5 or 7."};
    return {errc::bad_option, "Redlock over " + std::to_string(nodes) +
                                  (nodes == 1 ? " node" : " nodes") +
                                  " has no majority that survives a failure; give 3, 5 or 7, or "
                                  "redis:// for one server."};
}

}  // namespace

std::vector<std::string> node_names(const options& node_options) {
    std::vector<std::string> names;
    for (const auto& each : node_options.nodes)
        names.push_back(name_of(each));
    return names;
}

options in_order(options node_options) {
    std::ranges::sort(node_options.nodes, {}, name_of);
    return node_options;
}

void check_options(const options& node_options) {
    const auto& nodes = node_options.nodes;
    if (nodes.size() < 3 || nodes.size() % 2 == 0) throw count_error(nodes.size());
    if (nodes.size() > 7)
        throw error(errc::bad_option,
                    "Redlock over more than 7 nodes only costs messages; give 3, 5 or 7.");
    auto names = node_names(node_options);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end())
        throw error(
            errc::bad_option,
            "The node " + *twice + " is named twice; each node must be a server of its own.");
    for (const auto& each : nodes) {
        redis::check_options(each);
        if (!each.cluster_nodes.empty())
            throw error(errc::bad_option,
                        "A node of a cluster cannot be a node of Redlock; give independent "
                        "servers.");
        check_storage(each, node_options.fenced);
        const auto sentinels = sentinels_of(each);
        const auto repeated = std::ranges::adjacent_find(sentinels);
        if (repeated != sentinels.end())
            throw error(errc::bad_option, "The Sentinel " + *repeated + " of " +
                                              each.sentinel.master_name +
                                              " is named twice; name each once.");
        if (!are_alike(each, nodes.front()))
            throw error(errc::bad_option,
                        "The nodes' namespaces, key templates, layouts, databases, timeouts and "
                        "retentions must be equal.");
    }
    if (node_options.ttl_max < ttl_maxima.min || node_options.ttl_max > ttl_maxima.max)
        throw error(errc::bad_option, "ttl_max must be between 100 ms and 1 h.");
    if (!node_options.fenced && node_options.ttl_max != options().ttl_max)
        throw error(errc::bad_option,
                    "Without fencing there is no quarantine for ttl_max to bound; leave out "
                    "ttl_max, or fenced=no.");
}

options parse(std::string_view text) {
    auto url = core::parse_url(text);
    options result;
    if (const auto ttl_max = take_option(url, "ttl_max"))
        result.ttl_max = core::parse_duration_option("ttl_max", *ttl_max, ttl_maxima);
    if (const auto fenced = take_option(url, "fenced"))
        result.fenced = net::parse_yes_no("fenced", *fenced);
    const auto count = url.hosts.size() + url.groups.size();
    if (count < 3 || count % 2 == 0) throw count_error(count);
    result.nodes = nodes_of(std::move(url));
    check_options(result);
    return result;
}

std::string describe(const options& node_options) {
    const auto& first = node_options.nodes.front();
    std::string text = first.tls.enabled ? "redlocks://" : "redlock://";
    bool is_first = true;
    for (const auto& each : node_names(node_options)) {
        if (!std::exchange(is_first, false)) text += ",";
        text += each;
    }
    text += "/" + std::to_string(first.database);
    if (!node_options.fenced) core::append_option(text, "fenced", "no");
    if (node_options.ttl_max != options().ttl_max)
        core::append_option(text, "ttl_max",
                            std::to_string(node_options.ttl_max / std::chrono::milliseconds(1)));
    if (first.name_space != redis::options().name_space)
        core::append_option(text, "namespace", first.name_space);
    if (!first.key.empty()) core::append_option(text, "key", first.key);
    if (first.layout == redis::key_layout::redisson)
        core::append_option(text, "layout", "redisson");
    return text;
}

std::string set_digest(const options& node_options) {
    // The form of the membership: a client of another version must not take part.
    auto text = "2 " + std::to_string(node_options.ttl_max / std::chrono::milliseconds(1));
    for (const auto& each : node_names(node_options))
        text += " " + each;
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    std::string hex;
    for (std::size_t i = 0; i < 8; ++i) {
        constexpr std::string_view digits = "0123456789abcdef";
        hex += digits[digest[i] >> 4];
        hex += digits[digest[i] & 15];
    }
    return hex;
}

}  // namespace pawl::redlock
