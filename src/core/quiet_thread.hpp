// Threads of Pawl's own.
#pragma once

#include <functional>
#include <thread>

namespace pawl::core {

// Starts a thread that takes none of the program's signals. The caller's own mask stays as it is,
// also where no thread can be started: errc::exhausted, and `purpose` says what it was wanted for.
[[nodiscard]] std::thread start_thread(const char* purpose, std::function<void()> work);

}  // namespace pawl::core
