// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "errors.hpp"

#include "../http/client.hpp"
#include "keys.hpp"

#include <charconv>

using namespace std::chrono_literals;

namespace pawl::consul {
namespace {

bool contains(std::string_view text, std::string_view part) noexcept {
    return text.find(part) != std::string_view::npos;
}

// The server's own words, for a message.
std::string quoted(std::string_view body) {
    constexpr std::size_t longest = 200;
    std::string text;
    for (const char c : body.substr(0, longest))
        text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    while (text.ends_with(' ') || text.ends_with('.'))
        text.pop_back();
    return text;
}

error rights_error(const std::string& subject) {
    return {errc::refused,
            subject +
                " denies the permission; the token's policy needs write on the namespace "
                "(key_prefix) and on sessions (session_prefix)."};
}

constexpr std::string_view unknown_token = "ACL not found";
constexpr std::string_view denied = "Permission denied";

[[noreturn]] void throw_server_failure(const http::response& received, const std::string& subject,
                                       bool is_write) {
    const auto words = quoted(received.body);
    const auto sentence = subject + " answers " + std::to_string(received.status) +
                          (words.empty() ? "" : " (" + words + ")") + ".";
    // Without a leader, nothing is carried out. After other failures, a write may have been.
    if (is_write && !contains(received.body, "No cluster leader") && received.status != 503)
        throw http::no_response(sentence);
    throw error(errc::unavailable, sentence);
}

}  // namespace

bool is_unknown_token(const http::response& received) noexcept {
    return received.status == 403 && contains(received.body, unknown_token);
}

void check_response(const http::response& received, const std::string& subject, bool is_write,
                    time_point now) {
    const auto& body = received.body;
    if (is_unknown_token(received))
        throw error(errc::refused, subject +
                                       " does not know the token; give one of its ACL in the URL "
                                       "(consul://:TOKEN@HOST), or by token_file or token_env.");
    if (contains(body, denied) && received.status != 200) throw rights_error(subject);
    if (received.status == 401 || received.status == 403) throw rights_error(subject);
    if (received.status == 400 && contains(body, "HTTPS server"))
        throw error(errc::protocol, subject +
                                        ": this port speaks TLS; write consuls in place of consul "
                                        "in the URL.");
    if (received.status == 429) {
        int seconds = 1;
        const auto after = received.header("retry-after");
        std::from_chars(after.data(), after.data() + after.size(), seconds);
        throw error(errc::unavailable, subject + " has too many requests.", true,
                    now + std::chrono::seconds(seconds));
    }
    if (received.status >= 500) throw_server_failure(received, subject, is_write);
    const bool is_absent = received.status == 404 && !contains(body, "page not found");
    if (received.status == 200 || is_absent || received.status == 409) return;
    throw error(errc::protocol, subject + " answers " + std::to_string(received.status) + " (" +
                                    quoted(body) + "); check that it is Consul's HTTP port.");
}

refused_for reason_of(const refusal& refused) noexcept {
    const std::string_view reason = refused.reason;
    if (contains(reason, "lock delay")) return refused_for::lock_delay;
    if (contains(reason, "invalid session")) return refused_for::invalid_session;
    if (contains(reason, denied)) return refused_for::rights;
    if (contains(reason, "index is stale") || contains(reason, "current modify index") ||
        contains(reason, "doesn't exist") || contains(reason, "lock is already held"))
        return refused_for::locked;
    return refused_for::other;
}

error refusal_error(const refusal& refused, const std::string& subject) {
    if (reason_of(refused) == refused_for::rights) return rights_error(subject);
    return {errc::protocol, subject + " refuses a transaction (" + quoted(refused.reason) + ")."};
}

error wrong_type_error(const entry& stored, const std::string& subject) {
    const auto* content = stored.flags == semaphore_flags
                              ? "a semaphore of `consul lock -n`, which Pawl has not"
                              : "a value that is no lock";
    return {errc::wrong_type, subject + ": the key " + stored.key + " has " + content +
                                  "; use another name, or delete the key if nobody needs it."};
}

}  // namespace pawl::consul
