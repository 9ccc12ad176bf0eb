// Files that decide where locks live: read only when nobody else could have written them.
#pragma once

#include "failure.hpp"

#include <optional>
#include <string>

namespace pawl::cli {

struct trusted_text {
    std::string text;
    bool readable_by_others = false;
};

// The system does not let this user open the file.
class unreadable_file : public failure {
public:
    using failure::failure;
};

// Empty where there is no such file. Otherwise the file must be a regular one that belongs to the
// effective user or to root, and that neither its group nor others can write; /dev/null is an empty
// file. Throws a failure with one sentence.
[[nodiscard]] std::optional<trusted_text> read_trusted(const std::string& path);

}  // namespace pawl::cli
