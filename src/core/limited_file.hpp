// Files that options name. Whoever writes the option may name a FIFO or a device by mistake, which
// would be read for ever.
#pragma once

#include <cstddef>
#include <string>

namespace pawl::core {

// The first line of a regular file; empty when the file is empty. `subject` begins the sentence:
// "The password file". Throws errc::bad_option, also where the line is longer than `most` bytes.
[[nodiscard]] std::string first_line_of(const std::string& path, const std::string& subject,
                                        std::size_t most);

// Throws errc::bad_option when the path leads to something that is no regular file, or a longer
// one. What cannot be looked at is left to the use.
void expect_regular_file(const std::string& path, const std::string& subject, std::size_t most);

}  // namespace pawl::core
