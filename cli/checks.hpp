// What the library would refuse as well, but only after the service was looked for: a mistyped
// option must be told before anything about services is.
#pragma once

#include "verbs.hpp"

#include <string>

namespace pawl::cli {

// Each throws a usage failure, in the words of the library.
void check_name(const std::string& name);
// Of `run` and `elect`.
void check_locks(const run_options& options);

}  // namespace pawl::cli
