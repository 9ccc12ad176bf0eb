// What `run` and `elect` call their locks.
#pragma once

#include "verbs.hpp"

#include <string>
#include <string_view>

namespace pawl::cli {

// "'a'", "'a' and 1 other", "'a' and 2 others".
[[nodiscard]] std::string in_words(const run_options& options);

// What became of the locks, for people; `which` is the one that was lost, where that is known.
// `outcome` is what that means for the command.
[[nodiscard]] std::string loss_sentence(const run_options& options, loss_reason why,
                                        std::string_view which, std::string_view outcome);

}  // namespace pawl::cli
