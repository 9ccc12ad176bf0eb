// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a user may have meant by a word that pawl does not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// A mistyped verb, or the verb of another program. Empty if nothing is similar.
[[nodiscard]] std::string verb_meant_by(std::string_view word,
                                        const std::vector<std::string>& verbs);

// For an option of flock(1) or another program: the option of pawl, as in "--wait 0", or a clause
// with advice. Empty for other options.
[[nodiscard]] std::string option_meant_by(std::string_view option);

// The name that differs from `word` in a letter or two; empty if there is none.
[[nodiscard]] std::string closest_to(std::string_view word, const std::vector<std::string>& names);

// Why `command` needs a shell, as a sentence with advice. Empty if it does not, as far as its text
// tells.
[[nodiscard]] std::string shell_advice(const std::vector<std::string>& command);

}  // namespace pawl::cli
