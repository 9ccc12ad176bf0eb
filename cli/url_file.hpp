// The file that --url-file or PAWL_URL_FILE names.
#pragma once

#include <string>

namespace pawl::cli {

// Its first line, without blanks at the end. The file is a regular one or a pipe, such as the
// `<(...)` of a shell; neither may be longer than 64 KiB before the line ends, and a pipe must give
// the line within 5 s. Throws a failure with one sentence. `named_by` is the option or variable.
[[nodiscard]] std::string read_url_file(const std::string& path, const std::string& named_by);

}  // namespace pawl::cli
