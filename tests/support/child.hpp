// A fork of the test that runs short of something, so that the test does not.
#pragma once

#include <functional>
#include <string>

namespace support {

// What `work` returned, or the words of what it threw, in a forked child.
[[nodiscard]] std::string in_child(const std::function<std::string()>& work);

// From now on this process can start no thread; it has no rights of root any more.
void forbid_threads();
void allow_threads();

// From now on this process can open nothing more.
void forbid_descriptors();

// The signals that the calling thread has blocked.
[[nodiscard]] std::string blocked_signals();

}  // namespace support
