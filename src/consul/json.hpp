// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// JSON of Consul's API. The functions throw errc::protocol for what Consul does not send.
#pragma once

#include "answers.hpp"

#include <pawl/error.hpp>

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::consul {

[[nodiscard]] std::string to_base64(std::string_view bytes);
// Empty for a text that is no base64.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

// The error for an answer that Consul does not give. `subject` names the server.
[[nodiscard]] error strange_answer(const std::string& subject);

[[nodiscard]] boost::json::value parse_json(std::string_view body, const std::string& subject);
[[nodiscard]] transaction_result read_transaction(std::string_view body,
                                                  const std::string& subject);
[[nodiscard]] std::vector<entry> read_entries(std::string_view body, const std::string& subject);
[[nodiscard]] std::string read_session_id(std::string_view body, const std::string& subject);
[[nodiscard]] std::optional<session_info> read_session_info(std::string_view body,
                                                            const std::string& subject);

}  // namespace pawl::consul
