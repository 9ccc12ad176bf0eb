// The file that the URL's option password_file names.
#pragma once

#include <string>

namespace pawl::redis {

// Its first line. Throws errc::bad_option for a file that cannot be read, that has no first line,
// or that everybody may read, unless its file system is mounted read-only.
[[nodiscard]] std::string read_password_file(const std::string& path);

}  // namespace pawl::redis
