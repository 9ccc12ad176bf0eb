// The verbs of latches; the same as in Latches.java.
#pragma once

#include <pawl/blocking.hpp>

#include <sstream>
#include <string>

namespace interop {

// Empty: the verb is none of them.
[[nodiscard]] std::string serve_latch(pawl::blocking::client& locks, const std::string& verb,
                                      const std::string& name, std::istream& words);

}  // namespace interop
