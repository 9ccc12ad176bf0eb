// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "idempotent_exchange.hpp"

#include "stored_answer.hpp"

#include <guard/sha256.hpp>

#include <algorithm>
#include <string>

namespace pawl::guard {
namespace {

constexpr std::size_t longest_scope = 64, longest_key = 255;

http_answer problem(unsigned status, const char* code, const std::string& title) {
    return {.status = status,
            .headers = {{"Content-Type", "application/problem+json"}},
            .body = "{\"type\":\"about:blank\",\"status\":" + std::to_string(status) +
                    ",\"code\":\"" + code + "\",\"title\":\"" + title + "\"}"};
}

std::string in_hex(std::string_view bytes) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char each : bytes) {
        text += digits[static_cast<unsigned char>(each) >> 4];
        text += digits[static_cast<unsigned char>(each) & 15];
    }
    return text;
}

// Of any length, and with any bytes in the principal: those in front say where it ends. A digest
// fills the whole scope, which no other text does.
std::string scope_of(const idempotent_request& request) {
    std::string scope = std::to_string(request.principal.size()) + ":" + request.principal + " " +
                        request.method + " " + request.route;
    return scope.size() < longest_scope ? scope : in_hex(sha256(scope));
}

// These ask the client to repeat the request.
bool is_final(unsigned status) {
    return status < 500 && status != 408 && status != 425 && status != 429;
}

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// A String of RFC 9651, in which only quotes and backslashes are escaped; nothing else may follow.
std::optional<std::string> unquoted(std::string_view text) {
    std::string key;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '"') return i + 1 == text.size() ? std::optional(key) : std::nullopt;
        if (text[i] == '\\' && (++i == text.size() || (text[i] != '"' && text[i] != '\\')))
            return std::nullopt;
        if (text[i] < ' ' || text[i] > '~') return std::nullopt;
        key += text[i];
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> parse_idempotency_key(std::string_view header) {
    const auto text = trimmed(header);
    std::optional<std::string> key(text);
    const auto is_bare = [](char c) {
        return c > ' ' && c <= '~' && c != '"' && c != ',' && c != ';' && c != '\\';
    };
    if (text.starts_with('"'))
        key = unquoted(text);
    else if (!std::ranges::all_of(text, is_bare))
        return std::nullopt;
    if (!key || key->empty() || key->size() > longest_key) return std::nullopt;
    return key;
}

idempotent_exchange::idempotent_exchange(const idempotent_request& request,
                                         const idempotency_options& options) {
    if (!request.key_header) {
        if (options.is_required)
            refusal_ = problem(400, "idempotency_key_missing",
                               "This request needs the header Idempotency-Key. Make one key for an "
                               "operation, and repeat the request with the same key.");
        return;
    }
    const auto key = parse_idempotency_key(*request.key_header);
    if (key)
        key_.emplace(*key, request.target + "\n" + request.body, scope_of(request));
    else
        refusal_ = problem(400, "idempotency_key_invalid",
                           "The header Idempotency-Key has no key of 1 to 255 characters, or more "
                           "than one key.");
}

attempt idempotent_exchange::unkeyed_attempt() {
    return {"", "", fencing_token(), 1, time_point::max()};
}

outcome idempotent_exchange::on_answer(const http_answer& answer) {
    if (!is_final(answer.status)) {
        given_up_ = answer;
        return retry_after{};
    }
    final_answer_ = encode_answer(answer);
    if (answer.status >= 400) return rejected{final_answer_};
    return final_answer_;
}

// A rejection is `failed` for this exchange, too.
http_answer idempotent_exchange::replayed(http_answer answer, const once_result& result) const {
    const bool is_own = result.state == once_state::done ||
                        (!final_answer_.empty() && result.value == final_answer_);
    if (!is_own) answer.headers.emplace_back("Idempotent-Replayed", "true");
    return answer;
}

http_answer idempotent_exchange::answer_of(const once_result& result) const {
    if (result.state == once_state::mismatch)
        return problem(422, "idempotency_key_reused",
                       "This Idempotency-Key was used for another request. Make a new key for a "
                       "new operation.");
    if (result.state == once_state::running) {
        if (given_up_) return *given_up_;
        auto answer = problem(409, "request_in_progress",
                              "The first request with this Idempotency-Key still runs. Repeat the "
                              "request later, with the same key.");
        const auto pause = std::chrono::ceil<std::chrono::seconds>(result.retry_in).count();
        answer.headers.emplace_back("Retry-After", std::to_string(std::max<long>(pause, 1)));
        return answer;
    }
    if (auto answer = decode_answer(result.value)) {
        return replayed(*std::move(answer), result);
    }
    if (result.state == once_state::failed)
        return replayed(problem(500, "operation_failed",
                                "The operation has failed for good, and repeating it does not "
                                "help."),
                        result);
    return replayed(problem(500, "answer_not_kept",
                            "The operation was carried out, but its answer was too large to be "
                            "kept."),
                    result);
}

std::optional<http_answer> idempotent_exchange::answer_of(const pawl::error& failure) const {
    if (failure.reason() != errc::bad_option || final_answer_.empty()) return std::nullopt;
    return problem(500, "answer_too_large",
                   "The answer of " + std::to_string(final_answer_.size()) +
                       " bytes is too large to be kept, so nothing was done.");
}

}  // namespace pawl::guard
