// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "handshake.hpp"

#include "numbers.hpp"
#include "pending_request.hpp"
#include "server_errors.hpp"

#include <boost/redis/error.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace bredis = boost::redis;

namespace pawl::redis {
namespace {

// A version that cannot be parsed counts as new enough.
bool is_older(const std::string& version, std::pair<unsigned, unsigned> minimum) {
    unsigned major = 99;
    unsigned minor = 0;
    const auto* end = version.data() + version.size();
    const auto parsed = std::from_chars(version.data(), end, major);
    if (parsed.ec != std::errc{}) return false;
    if (parsed.ptr != end) std::from_chars(parsed.ptr + 1, end, minor);
    return std::pair(major, minor) < minimum;
}

server_role role_of(std::string_view role) {
    if (role == "master") return server_role::master;
    return role == "replica" ? server_role::replica : server_role::unknown;
}

void append(commands& target, std::initializer_list<std::string_view> words) {
    append_command(target.text, {words.begin(), words.size()});
    ++target.replies;
}

void append_hello(commands& target, const login& used) {
    if (used.password.empty()) {
        append(target, {"HELLO", "3", "SETNAME", "pawl"});
    } else {
        const std::string_view user = used.user.empty() ? std::string_view("default") : used.user;
        append(target, {"HELLO", "3", "AUTH", user, used.password, "SETNAME", "pawl"});
    }
}

// A server that does not know HELLO has no RESP3: an old server, or a proxy in front of a new one.
error explain_hello(std::string_view server_words, const std::string& subject) {
    const auto explained = to_error(server_words, subject);
    if (explained.reason() != errc::unsupported && explained.reason() != errc::protocol)
        return explained;
    return {errc::unsupported,
            subject + ": the server says \"" + std::string(server_words.substr(0, 200)) +
                "\" to HELLO 3; Pawl speaks RESP3, so give Redis 6.2 or later, or Valkey, without "
                "a proxy that speaks RESP2 only, and with HELLO neither renamed nor disabled."};
}

session sentinel_session(std::string_view mode, const std::string& subject) {
    if (mode != "sentinel")
        throw error(
            errc::unsupported,
            subject +
                " answers as a server, not as a Sentinel; write redis://HOST:PORT, or give the "
                "Sentinels' port, which is usually 26379.");
    session result;
    result.server = "sentinel";
    return result;
}

}  // namespace

std::string_view field_of(const reply& map, std::string_view name) {
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
        if (map.items[i].text == name) return map.items[i + 1].text;
    }
    return {};
}

std::string info_field(std::string_view info, std::string_view name) {
    const auto key = "\n" + std::string(name) + ":";
    const auto index = info.find(key);
    if (index == std::string_view::npos) return {};
    const auto begin = index + key.size();
    return std::string(info.substr(begin, info.find_first_of("\r\n", begin) - begin));
}

commands handshake_commands(const connection_settings& settings, const login& used) {
    if (settings.is_sentinel) return identity_commands(used);
    commands result;
    append_hello(result, used);
    append(result, {"SELECT", std::to_string(settings.database)});
    append(result, {"INFO", "server"});
    append(result, {"TIME"});
    append(result, {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    return result;
}

commands identity_commands(const login& used) {
    commands result;
    append_hello(result, used);
    append(result, {"INFO", "server"});
    return result;
}

bool refuses_login(const reply& hello) noexcept {
    return hello.type == reply::kind::error && hello.text.starts_with("WRONGPASS");
}

// The server confirms subscriptions by pushes. Only the final PING has a reply.
commands subscribe_commands(const std::string& own_channel, std::span<const std::string> channels,
                            bool sharded) {
    commands result;
    std::vector<std::string_view> words{"SUBSCRIBE"};
    if (!own_channel.empty()) words.emplace_back(own_channel);
    if (!sharded) words.insert(words.end(), channels.begin(), channels.end());
    if (words.size() > 1) append_command(result.text, words);
    // Separate commands, since the channels may be in different slots.
    for (std::size_t i = 0; sharded && i < channels.size(); ++i)
        append_command(result.text, std::array<std::string_view, 2>{"SSUBSCRIBE", channels[i]});
    append(result, {"PING"});
    return result;
}

session parse_handshake(const std::string& subject, const std::vector<reply>& replies,
                        const connection_settings& settings) {
    if (replies.size() < (settings.is_sentinel ? 2U : 5U))
        throw error(errc::protocol, subject + " gave too few answers; is it Redis?");
    if (replies[0].type == reply::kind::error) {
        // A server without a password rejects any password; the general message would mislead.
        if (replies[0].text.find("without any password configured") != std::string::npos)
            throw error(errc::refused, subject + " has no password; leave it out of the URL.");
        throw explain_hello(replies[0].text, subject);
    }
    // Check this before the other replies, because a Sentinel refuses SELECT and TIME.
    const auto mode = field_of(replies[0], "mode");
    if (settings.is_sentinel) return sentinel_session(mode, subject);
    if (mode == "sentinel")
        throw error(errc::unsupported,
                    subject + " " + std::string(settings.sentinel_message) + ".");
    for (const auto index : {1u, 3u}) {
        if (replies[index].type == reply::kind::error) throw to_error(replies[index].text, subject);
    }
    session result;
    result.cluster = mode == "cluster";
    result.role = role_of(field_of(replies[0], "role"));
    // A user without permission for INFO can still lock.
    const auto& info = replies[2].text;
    if (replies[2].type == reply::kind::string) {
        const auto field = [&](std::string_view name) { return info_field(info, name); };
        result.run_id = field("run_id");
        result.server = field("server_name").empty() ? "redis" : field("server_name");
        result.version =
            field("valkey_version").empty() ? field("redis_version") : field("valkey_version");
        // The same decision as Redisson's, which asks whether the server knows PUBSUB SHARDNUMSUB.
        result.cluster = result.cluster || field("redis_mode") == "cluster";
        result.sharded = result.cluster && !is_older(field("redis_version"), {7, 0});
        if (is_older(field("redis_version"), {6, 2}))
            throw error(errc::unsupported, subject + " is Redis " + result.version +
                                               "; Pawl needs Redis 6.2 or later, or Valkey.");
    }
    if (replies[3].items.size() == 2)
        result.time_us =
            std::clamp<std::int64_t>(parse_number(replies[3].items[0]), -1, 1LL << 40) * 1'000'000 +
            parse_number(replies[3].items[1]) % 1'000'000;
    return result;
}

std::string describe_connect_error(const boost::system::error_code& reason) {
    if (reason == bredis::error::exceeds_maximum_read_buffer_size)
        return "it sent a larger reply than any that Pawl asks for, and the connection was ended";
    if (speaks_another_protocol(reason)) return "it sent what is no reply of Redis";
    return reason ? reason.message() : "the connection ended";
}

bool speaks_another_protocol(const boost::system::error_code& reason) noexcept {
    using bredis::error;
    static constexpr std::array protocol_errors{error::invalid_data_type,
                                                error::not_a_number,
                                                error::exceeeds_max_nested_depth,
                                                error::unexpected_bool_value,
                                                error::empty_field,
                                                error::expects_resp3_simple_type,
                                                error::expects_resp3_aggregate,
                                                error::exceeds_maximum_read_buffer_size};
    for (const auto code : protocol_errors) {
        if (reason == code) return true;
    }
    return false;
}

}  // namespace pawl::redis
