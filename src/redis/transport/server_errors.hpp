// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Classifies the errors of a server.
#pragma once

#include "link.hpp"

#include <pawl/error.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

// True: the same request may succeed a little later (loading, busy, out of memory …).
[[nodiscard]] bool is_transient(std::string_view server_words) noexcept;

// True: the error proves that the request changed nothing. The server refused it before it began,
// or at its first write.
[[nodiscard]] bool proves_no_change(std::string_view server_words) noexcept;

// True: a release or undo that got this error may succeed later, for example when a replica is a
// master again, a slot is back, or a permission is granted.
[[nodiscard]] bool may_succeed_later(std::string_view server_words) noexcept;

// True: another attempt to connect would get the same error.
[[nodiscard]] bool is_final(const error& failure) noexcept;

// True: only a replica gives this error, which changed nothing.
[[nodiscard]] bool is_of_replica(std::string_view server_words) noexcept;

// True: the server, or the user's rights, forbid scripts. They changed nothing.
[[nodiscard]] bool forbids_scripts(std::string_view server_words);

// True: the key has another type than the request expects. The whole text is searched, because
// Redis 6 writes the script's name before the error of a command in a script.
[[nodiscard]] bool is_wrong_type(const reply& reply) noexcept;

// One sentence with the server's words and an advice. `subject` is the lock's key or the server.
[[nodiscard]] error to_error(std::string_view server_words, const std::string& subject);

// Throws `to_error` of the reply's text if the reply is an error.
void throw_if_error(const reply& reply, const std::string& subject);

}  // namespace pawl::redis
