// Lines on stderr that hold up no lock. The reader of stderr may be a pager that nobody pages.
#pragma once

#include <pawl/types.hpp>

namespace pawl::cli {

// From now on say() never waits for the reader of stderr: it keeps the lines for which there is no
// room, at most 100 of them, and counts the rest.
void never_wait_for_reader() noexcept;

// Writes the kept lines for which there is room now. True if none is left.
bool say_kept() noexcept;

// The same, before the process ends: waits for room, for a few seconds in total.
void say_rest() noexcept;

}  // namespace pawl::cli
