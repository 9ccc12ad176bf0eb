// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One request with a key, without I/O: common to threads and coroutines.
#pragma once

#include <pawl/error.hpp>
#include <pawl/guard/idempotency_key.hpp>

#include <optional>
#include <string>

namespace pawl::guard {

class idempotent_exchange {
public:
    idempotent_exchange(const idempotent_request& request, const idempotency_options& options);

    // The answer to a request that does not begin; nothing for the others.
    [[nodiscard]] const std::optional<http_answer>& refusal() const noexcept { return refusal_; }
    // False: there is no key, and none is needed.
    [[nodiscard]] bool has_key() const noexcept { return key_.has_value(); }
    [[nodiscard]] const once_key& key() const { return *key_; }
    // For a handler that runs without a key.
    [[nodiscard]] static attempt unkeyed_attempt();

    // The outcome of the work for the handler's answer.
    [[nodiscard]] outcome on_answer(const http_answer& answer);
    void on_begin() noexcept {
        given_up_.reset();
        final_answer_.clear();
    }
    // The answer to the client.
    [[nodiscard]] http_answer answer_of(const once_result& result) const;
    // The answer to a result that `once` found too large; nothing for another error.
    [[nodiscard]] std::optional<http_answer> answer_of(const pawl::error& failure) const;

private:
    [[nodiscard]] http_answer replayed(http_answer answer, const once_result& result) const;

    std::optional<http_answer> refusal_{};
    std::optional<once_key> key_{};
    std::optional<http_answer> given_up_{};
    std::string final_answer_{};  // of the handler in this exchange, as it is stored
};

}  // namespace pawl::guard
