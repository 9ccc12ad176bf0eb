// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connection_attempt.hpp"

#include "handshake.hpp"
#include "server_errors.hpp"

#include <pawl/error.hpp>

#include <boost/asio/error.hpp>

#include <chrono>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

std::string describe_network_end(const connection_attempt& attempt,
                                 const boost::system::error_code& reason, bool is_first,
                                 const connection_settings& settings) {
    const bool reached = attempt.connection && attempt.connection->was_opened();
    if (attempt.timed_out_after) {
        const auto limit = std::to_string(*attempt.timed_out_after / 1ms) + " ms";
        if (settings.tls.enabled && !reached)
            return "no TLS handshake within " + limit + tls_hint(settings);
        if (attempt.was_silent())
            return "it accepted the connection and did not answer within " + limit;
        return "no answer within " + limit;
    }
    const bool was_cut = reason == asio::error::eof || reason == asio::error::connection_reset;
    if (was_cut && is_first && reached && !settings.tls.enabled)
        return "it closed the connection without an answer (is it Redis? a TLS port wants " +
               std::string(settings.with_tls) + " in place of " +
               std::string(settings.without_tls) + ")";
    return describe_connect_error(reason);
}

}  // namespace

std::string without_subject(std::string text, const std::string& subject) {
    if (text.starts_with(subject + ": ")) text.erase(0, subject.size() + 2);
    return text;
}

std::string tls_hint(const connection_settings& settings) {
    return " (a port without TLS wants " + std::string(settings.without_tls) + " in place of " +
           std::string(settings.with_tls) + ")";
}

connection_end explain_end(connection_attempt& attempt, const boost::system::error_code& reason,
                           bool was_ready, bool is_first, const link_target& target,
                           const connection_settings& settings) {
    const auto& subject = target.subject;
    const auto words =
        attempt.connection && attempt.end.text.empty() ? attempt.connection->last_words() : "";
    connection_end result;
    result.has_advice = !words.empty();
    result.was_silent = attempt.timed_out_after && attempt.was_silent();
    std::optional<error> explanation;
    if (!words.empty()) {
        explanation = to_error(words, target.server_subject());
        result.text = without_subject(explanation->what(), subject);
        result.text.pop_back();  // the full stop
        // A server that is full, or a proxy that cannot reach its own, may accept the next attempt.
        if (!was_ready && explanation->reason() == errc::refused)
            attempt.end.failure = std::make_exception_ptr(*explanation);
        return result;
    }
    if (!was_ready && attempt.connection)
        explanation = attempt.connection->explain_end(reason, subject);
    if (explanation) {
        result.text = without_subject(explanation->what(), subject);
    } else if (!attempt.end.text.empty()) {
        result.text = attempt.end.text;
    } else {
        if (target.is_located()) result.text = "the master " + target.server_name() + ": ";
        result.text += describe_network_end(attempt, reason, is_first, settings);
    }
    if (!explanation && !was_ready && speaks_another_protocol(reason))
        explanation = error(
            errc::protocol,
            subject + " does not speak the protocol of Redis: " + describe_connect_error(reason) +
                "; check host and port, and whether it needs TLS (" +
                std::string(settings.with_tls) + ").");
    if (explanation) attempt.end.failure = std::make_exception_ptr(*explanation);
    return result;
}

}  // namespace pawl::redis
