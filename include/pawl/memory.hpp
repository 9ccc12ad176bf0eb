// Locks within one process, for tests of programs that use Pawl.
#pragma once

#include <pawl/service.hpp>

#include <string>

namespace pawl::memory {

// A new, empty world of locks; copies of the returned service share it. Thread-safe.
[[nodiscard]] service make();

// The world of that name: one for the whole process, made at its first use, there until the process
// ends. The URL is `memory:NAME`. Thread-safe.
[[nodiscard]] service named(const std::string& name);

}  // namespace pawl::memory
