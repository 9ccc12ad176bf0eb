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
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace pawl::redlock {
namespace {

using namespace std::chrono_literals;

constexpr core::duration_range ttl_maxima{100ms, 1h, "100ms to 1h"};
constexpr redis::scheme_words redlock_scheme{.more_options = "ttl_max, fenced, ",
                                             .with_tls = "redlocks://"};

std::vector<std::string> sentinel_names(const redis::sentinels& set) {
    std::vector<std::string> names;
    for (const auto& [host, port] : set.addresses)
        names.push_back(net::text_of(net::endpoint{host, port}));
    std::ranges::sort(names);
    return names;
}

std::string name_of(const redis::server& single) {
    return net::text_of(net::endpoint{single.host, single.port});
}

// As in a URL. The order of the Sentinels does not matter.
std::string name_of(const redis::sentinels& set) {
    auto text = core::encode_path(set.master_name);
    const auto names = sentinel_names(set);
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "=" : "+") + names[i];
    return text;
}

std::string name_of_node(const where& node) {
    return std::visit([](const auto& servers) { return name_of(servers); }, node);
}

void check_sentinels(const redis::sentinels& set) {
    const auto names = sentinel_names(set);
    const auto repeated = std::ranges::adjacent_find(names);
    if (repeated != names.end())
        throw error(errc::bad_option, "The Sentinel " + *repeated + " of " + set.master_name +
                                          " is named twice; name each once.");
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

// The options of the node whose master these Sentinels name. `url` has the scheme of one server.
redis::options monitored_node(core::url url, const core::host_group& group) {
    url.scheme += "+sentinel";
    url.hosts = group.hosts;
    url.path = "/" + group.name + url.path;
    return redis::parse_options(url, redlock_scheme);
}

bool is_of_sentinels(const std::pair<std::string, std::string>& option) {
    return option.first.starts_with("sentinel_");
}

// What the nodes share: of the set, or of one node.
template <class From, class To>
void copy_shared(const From& from, To& to) {
    to.user = from.user;
    to.password = from.password;
    to.password_file = from.password_file;
    to.credentials = from.credentials;
    to.database = from.database;
    to.tls = from.tls;
    to.name_space = from.name_space;
    to.key = from.key;
    to.layout = from.layout;
    to.connect_timeout = from.connect_timeout;
    to.reply_timeout = from.reply_timeout;
    to.token_retention = from.token_retention;
}

// Sets the nodes and what they share.
void apply_nodes(options& settings, core::url url) {
    const auto hosts = std::exchange(url.hosts, {});
    const auto groups = std::exchange(url.groups, {});
    const auto unused = std::ranges::find_if(url.options, is_of_sentinels);
    if (groups.empty() && unused != url.options.end())
        throw error(errc::bad_option,
                    "The URL has no node with Sentinels, as in NAME=SENTINEL1+SENTINEL2; leave "
                    "out " +
                        unused->first + ".");
    url.scheme = url.scheme == "redlocks" ? "rediss" : "redis";
    redis::options parsed;
    for (const auto& each : groups) {
        parsed = monitored_node(url, each);
        settings.nodes.emplace_back(std::get<redis::sentinels>(parsed.where));
    }
    std::erase_if(url.options, is_of_sentinels);
    for (const auto& each : hosts) {
        url.hosts = {each};
        parsed = redis::parse_options(url, redlock_scheme);
        settings.nodes.emplace_back(std::get<redis::server>(parsed.where));
    }
    copy_shared(parsed, settings);
    check_options(settings);
    if (!parsed.scripts) throw error(errc::bad_option, "Redlock needs scripts; leave out scripts.");
    if (parsed.object != redis::redisson_object::lock)
        throw error(errc::bad_option,
                    "RedissonRedLock is shared as plain locks only; leave out object.");
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
        names.push_back(name_of_node(each));
    return names;
}

redis::options options_of_node(const options& settings, std::size_t node) {
    redis::options result;
    std::visit([&](const auto& servers) { result.where = servers; }, settings.nodes[node]);
    copy_shared(settings, result);
    return result;
}

options in_order(options node_options) {
    // Not by std::sort: GCC 12 sees an uninitialized variable where it moves a variant.
    std::multimap<std::string, where> by_name;
    for (auto& each : node_options.nodes)
        by_name.emplace(name_of_node(each), std::move(each));
    node_options.nodes.clear();
    for (auto& [name, each] : by_name)
        node_options.nodes.push_back(std::move(each));
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
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        redis::check_options(options_of_node(node_options, i));
        if (const auto* set = std::get_if<redis::sentinels>(&nodes[i])) check_sentinels(*set);
    }
    if (node_options.fenced && node_options.layout != redis::key_layout::native)
        throw error(errc::bad_option,
                    "Redlock with fencing needs the native layout; leave out layout, or add "
                    "fenced=no to share locks with RedissonRedLock.");
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
    apply_nodes(result, std::move(url));
    return result;
}

std::string describe(const options& node_options) {
    std::string text = node_options.tls.enabled ? "redlocks://" : "redlock://";
    bool is_first = true;
    for (const auto& each : node_names(node_options)) {
        if (!std::exchange(is_first, false)) text += ",";
        text += each;
    }
    text += "/" + std::to_string(node_options.database);
    if (!node_options.fenced) core::append_option(text, "fenced", "no");
    if (node_options.ttl_max != options().ttl_max)
        core::append_option(text, "ttl_max",
                            std::to_string(node_options.ttl_max / std::chrono::milliseconds(1)));
    if (node_options.name_space != redis::options().name_space)
        core::append_option(text, "namespace", node_options.name_space);
    if (!node_options.key.empty()) core::append_option(text, "key", node_options.key);
    if (node_options.layout == redis::key_layout::redisson)
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
