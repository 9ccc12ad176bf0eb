// From the arguments to the verb.
#pragma once

namespace pawl::cli {

// The whole command: parses, hides passwords, runs the verb, reports. Returns the exit status.
[[nodiscard]] int run_command(int argc, char** argv) noexcept;

}  // namespace pawl::cli
