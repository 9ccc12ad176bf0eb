// The libraries that are tried, with the key template that makes their locks ours.
#pragma once

#include "peer.hpp"

#include <vector>

namespace plain {

[[nodiscard]] const std::vector<library>& libraries();
[[nodiscard]] std::vector<library> those_that_poll();
// Those whose user may choose the value: the verbs `take_as` and `adopt`.
[[nodiscard]] std::vector<library> those_with_values();

}  // namespace plain
