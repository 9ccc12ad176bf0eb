#include "greeting.hpp"

#include "numbers.hpp"
#include "pending.hpp"
#include "server_errors.hpp"

#include <boost/redis/error.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace bredis = boost::redis;

namespace pawl::redis {
namespace {

// "6.0.16" is too old; what cannot be read is given a chance.
bool older(const std::string& version, std::pair<unsigned, unsigned> than) {
    unsigned major = 99;
    unsigned minor = 0;
    const auto* end = version.data() + version.size();
    const auto parsed = std::from_chars(version.data(), end, major);
    if (parsed.ec != std::errc{}) return false;
    if (parsed.ptr != end) std::from_chars(parsed.ptr + 1, end, minor);
    return std::pair(major, minor) < than;
}

// Of a map: HELLO answers with one.
std::string_view field_of(const reply& map, std::string_view name) {
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
        if (map.items[i].text == name) return map.items[i + 1].text;
    }
    return {};
}

void add(commands& to, std::initializer_list<std::string_view> words) {
    append_command(to.text, {words.begin(), words.size()});
    ++to.replies;
}

void add_hello(commands& to, const options& where) {
    if (where.password.empty()) {
        add(to, {"HELLO", "3", "SETNAME", "pawl"});
    } else {
        const std::string_view user = where.user.empty() ? std::string_view("default") : where.user;
        add(to, {"HELLO", "3", "AUTH", user, where.password, "SETNAME", "pawl"});
    }
}

// Where HELLO is not known, none of RESP3 is: an old server, or a proxy before a new one.
error explain_hello(std::string_view words, const std::string& about) {
    const auto why = explain(words, about);
    if (why.reason() != errc::unsupported && why.reason() != errc::protocol) return why;
    return {errc::unsupported,
            about + ": the server says \"" + std::string(words.substr(0, 200)) +
                "\" to HELLO 3; Pawl speaks RESP3, so give Redis 6.2 or later, or Valkey, without "
                "a proxy that speaks RESP2 only, and with HELLO neither renamed nor disabled."};
}

}  // namespace

std::string info_field(std::string_view info, std::string_view name) {
    const auto key = "\n" + std::string(name) + ":";
    const auto at = info.find(key);
    if (at == std::string_view::npos) return {};
    const auto begin = at + key.size();
    return std::string(info.substr(begin, info.find_first_of("\r\n", begin) - begin));
}

commands greeting(const options& where) {
    commands first;
    add_hello(first, where);
    add(first, {"SELECT", std::to_string(where.database)});
    add(first, {"INFO", "server"});
    add(first, {"TIME"});
    add(first, {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    return first;
}

commands identity_questions(const options& where) {
    commands all;
    add_hello(all, where);
    add(all, {"INFO", "server"});
    return all;
}

// Subscriptions are confirmed by pushes, not by a reply.
commands subscribing(const std::string& own, std::span<const std::string> channels, bool sharded) {
    commands second;
    std::vector<std::string_view> words{"SUBSCRIBE"};
    if (!own.empty()) words.emplace_back(own);
    if (!sharded) words.insert(words.end(), channels.begin(), channels.end());
    if (words.size() > 1) append_command(second.text, words);
    // Two may be of different slots.
    for (std::size_t i = 0; sharded && i < channels.size(); ++i)
        append_command(second.text, std::array<std::string_view, 2>{"SSUBSCRIBE", channels[i]});
    add(second, {"PING"});
    return second;
}

session read_greeting(const std::string& about, const std::vector<reply>& answers) {
    if (answers.size() < 5)
        throw error(errc::protocol, about + " gave too few answers; is it Redis?");
    if (answers[0].what == reply::kind::error) {
        // A server without a password refuses one: say which of the two is wrong.
        if (answers[0].text.find("without any password configured") != std::string::npos)
            throw error(errc::refused, about + " has no password; leave it out of the URL.");
        throw explain_hello(answers[0].text, about);
    }
    // Before the other answers: a Sentinel refuses SELECT and TIME.
    const auto mode = field_of(answers[0], "mode");
    if (mode == "sentinel")
        throw error(errc::unsupported,
                    about + " is a Sentinel; give the URL of the server itself.");
    for (const auto at : {1u, 3u}) {
        if (answers[at].what == reply::kind::error) throw explain(answers[at].text, about);
    }
    session met;
    met.cluster = mode == "cluster";
    // A user without the right to INFO can still lock.
    const auto& info = answers[2].text;
    if (answers[2].what == reply::kind::string) {
        const auto field = [&](std::string_view name) { return info_field(info, name); };
        met.run_id = field("run_id");
        met.server = field("server_name").empty() ? "redis" : field("server_name");
        met.version =
            field("valkey_version").empty() ? field("redis_version") : field("valkey_version");
        // As Redisson decides it, which asks whether the server knows PUBSUB SHARDNUMSUB.
        met.cluster = met.cluster || field("redis_mode") == "cluster";
        met.sharded = met.cluster && !older(field("redis_version"), {7, 0});
        if (older(field("redis_version"), {6, 2}))
            throw error(errc::unsupported, about + " is Redis " + met.version +
                                               "; Pawl needs Redis 6.2 or later, or Valkey.");
    }
    if (answers[3].items.size() == 2)
        met.time_us = number(answers[3].items[0]) * 1'000'000 + number(answers[3].items[1]);
    return met;
}

std::string describe_connect_error(const boost::system::error_code& why) {
    if (why == bredis::error::exceeds_maximum_read_buffer_size)
        return "it sent a larger reply than any that Pawl asks for, and the connection was ended";
    if (speaks_another_protocol(why)) return "it sent what is no reply of Redis";
    return why ? why.message() : "the connection ended";
}

bool speaks_another_protocol(const boost::system::error_code& why) noexcept {
    using bredis::error;
    static constexpr std::array odd{error::invalid_data_type,
                                    error::not_a_number,
                                    error::exceeeds_max_nested_depth,
                                    error::unexpected_bool_value,
                                    error::empty_field,
                                    error::expects_resp3_simple_type,
                                    error::expects_resp3_aggregate,
                                    error::exceeds_maximum_read_buffer_size};
    for (const auto one : odd) {
        if (why == one) return true;
    }
    return false;
}

}  // namespace pawl::redis
