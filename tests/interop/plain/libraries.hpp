// The libraries that are tried, with the key template that makes their locks ours.
#pragma once

#include "peer.hpp"

#include <vector>

namespace plain {

[[nodiscard]] const std::vector<library>& libraries();
[[nodiscard]] std::vector<library> those_that_poll();

}  // namespace plain
