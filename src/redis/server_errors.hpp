// What a server's error means for a lock.
#pragma once

#include "link.hpp"

#include <pawl/error.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

// True: the same request may succeed a little later (loading, busy, out of memory …).
[[nodiscard]] bool worth_retrying(std::string_view server_words) noexcept;

// True: the error itself proves that the request changed nothing. The server refused it before it
// began, or at its first write.
[[nodiscard]] bool changed_nothing(std::string_view server_words) noexcept;

// True: what ends something may still be carried out later, when a replica is a master again, a
// slot is back, or a right is.
[[nodiscard]] bool may_be_said_later(std::string_view server_words) noexcept;

// One sentence with the server's words and what to do; `about` is the lock's key or the server.
[[nodiscard]] error explain(std::string_view server_words, const std::string& about);

// Throws that when the reply is an error.
void refuse_errors(const reply& answer, const std::string& about);

}  // namespace pawl::redis
