// Pawl's Redis scripts once more, in C++, over a simulated store: each does what its .lua file
// does, command by command. cross_check_test.cpp holds the two together.
#pragma once

#include "planted.hpp"
#include "replies.hpp"
#include "store.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

struct script_call {
    store& keys;
    // PUBLISH: how many got it.
    const std::function<std::int64_t(std::string_view channel, std::string_view payload)>& publish;
    std::vector<std::string> key;  // KEYS
    std::vector<std::string> arg;  // ARGV
    planted bug = planted::none;
};

// The script by its file's name, "acquire"; null where there is no such script.
using twin = redis::reply (*)(script_call&);
[[nodiscard]] twin find_twin(std::string_view name) noexcept;

}  // namespace pawl::simulation
