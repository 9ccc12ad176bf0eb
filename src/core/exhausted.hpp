// The error of a program that has run out of something.
#pragma once

#include <pawl/error.hpp>

#include <string>

namespace pawl::core {

[[nodiscard]] inline error exhausted(const std::string& failure, const std::string& cause) {
    return {errc::exhausted,
            failure + " (" + cause +
                "); raise the program's limits (`ulimit -n`, `ulimit -u`), or use fewer clients."};
}

}  // namespace pawl::core
