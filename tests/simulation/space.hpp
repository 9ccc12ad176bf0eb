// A part of the server that programs share with nobody outside it: a database, or a namespace. The
// same names in two of them are different locks and latches.
#pragma once

#include <pawl/redis.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

struct space {
    redis::options where;
    std::string label;  // "", "/1", "@other"

    // What the checker calls it, to which all spaces are one.
    [[nodiscard]] std::string known_as(std::string_view name) const {
        return std::string(name) + label;
    }
    [[nodiscard]] std::vector<std::string> known_as(const std::vector<std::string>& names) const {
        std::vector<std::string> made;
        for (const auto& name : names)
            made.push_back(known_as(name));
        return made;
    }
    // Redisson has no namespaces, so databases only.
    [[nodiscard]] std::string redisson_label() const {
        return "/" + std::to_string(where.database) + " of Redisson";
    }
    [[nodiscard]] redis::options redisson() const {
        redis::options made;
        made.layout = redis::key_layout::redisson;
        made.database = where.database;
        made.reply_timeout = where.reply_timeout;
        made.connect_timeout = where.connect_timeout;
        return made;
    }
};

}  // namespace pawl::simulation
