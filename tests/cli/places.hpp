// The services on which a promise of the command is tried.
#pragma once

#include "command.hpp"

#include <support/redis_server.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace cli_test {

struct place {
    const char* name;
    bool on_redis;
};
inline void PrintTo(const place& what, std::ostream* out) { *out << what.name; }

// A server of its own where one is needed, and an empty world there.
class home {
public:
    explicit home(const place& where) {
        if (where.on_redis) server_.emplace();
        here_.emplace(server_ ? server_->url() : std::string());
    }
    [[nodiscard]] const world& here() const { return *here_; }

private:
    std::optional<support::redis_server> server_;
    std::optional<world> here_;
};

[[nodiscard]] std::vector<place> places();

}  // namespace cli_test
