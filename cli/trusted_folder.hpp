// The folder of the default lock file, which nobody else may lead elsewhere.
#pragma once

#include <string>

namespace pawl::cli {

// Follows the names of `path` from the folder `base` on, as far as they are there. Each folder,
// each symbolic link and the file at the end must belong to the effective user or to root. Nobody
// else may write in them; only the folders of the way, without the last, may be written by their
// group, as a umask of 002 makes them. Throws a failure with one sentence.
void expect_trusted_way(const std::string& base, const std::string& path);

}  // namespace pawl::cli
