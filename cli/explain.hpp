// What `pawl run` says about the service while it asks for a lock.
#pragma once

#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <stop_token>

namespace pawl::cli {

// A person who waits wants to know for whom: says it once, after a second. Returns at `over` at
// the latest.
void explain_wait(blocking::client& locks, const run_options& options, const std::stop_token& over);

// After errc::bad_option: where nobody has said how many permits there are, throws a failure in
// the words of the command line.
void explain_permits(blocking::client& locks, const run_options& options);

}  // namespace pawl::cli
