// The scripts of latches once more, in C++; cross_check_latch_test.cpp holds the two together.
#pragma once

#include "twins.hpp"

namespace pawl::simulation {

// The script by its name in known_scripts.hpp, "latch_down"; null where there is no such script.
[[nodiscard]] twin find_latch_twin(std::string_view name) noexcept;

}  // namespace pawl::simulation
