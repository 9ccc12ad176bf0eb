// What `pawl run` says about the service while it asks for a lock.
#pragma once

#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <stop_token>

namespace pawl::cli {

// Says once, after a second, who has the lock that is waited for. Returns at `over` at the latest.
void explain_wait(blocking::client& locks, const run_options& options, const std::stop_token& over);

// In a command of a `pawl run` a wait for that run's own lock has no end: throws errc::deadlock.
// Says nothing where the service does not answer, or tells no process of the holder.
void refuse_own_wait(blocking::client& locks, const run_options& options);

// After errc::bad_option: where nobody has said how many permits there are, throws a failure in
// the words of the command line.
void explain_permits(blocking::client& locks, const run_options& options);

}  // namespace pawl::cli
