// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What Consul's answers mean. Messages never contain the token.
#pragma once

#include "answers.hpp"

#include "../http/message.hpp"

#include <pawl/error.hpp>

#include <span>
#include <string>
#include <string_view>

namespace pawl::consul {

// True: Consul does not know the token.
[[nodiscard]] bool is_unknown_token(const http::response& received) noexcept;

// Returns for the answers that the API documents: 200, a 404 for what does not exist, and a 409 of
// a transaction. Throws http::no_response if a write may have been carried out all the same;
// errc::unavailable for what passes; errc::refused; errc::protocol. `subject` names the server.
void check_response(const http::response& received, const std::string& subject, bool is_write,
                    time_point now);

// The outcome of a transaction, as its refusals say.
enum class refused_for : std::uint8_t {
    locked,           // another session has the lock, or the key is not as it was read
    lock_delay,       // the lock's last session ended a short time ago
    invalid_session,  // the session has ended
    rights,           // the token lacks rights
    other
};
[[nodiscard]] refused_for reason_of(const refusal& refused) noexcept;

// The error for a refusal that is none of the first three.
[[nodiscard]] error refusal_error(const refusal& refused, const std::string& subject);
// The error for a key at a lock's place that is no lock.
[[nodiscard]] error wrong_type_error(const entry& stored, const std::string& subject);

}  // namespace pawl::consul
