// Locks within one process, for tests of programs that use Pawl.
#pragma once

#include <pawl/service.hpp>

namespace pawl::memory {

// A new, empty world of locks; copies of the returned service share it. Thread-safe.
[[nodiscard]] service make();

}  // namespace pawl::memory
