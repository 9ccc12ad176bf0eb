#include "places.hpp"

namespace cli_test {

std::vector<place> places() {
    return {{.name = "Sqlite", .on_redis = false}, {.name = "Redis", .on_redis = true}};
}

}  // namespace cli_test
