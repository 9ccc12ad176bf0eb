// The helper process of the promises about killed and stopped processes.
#pragma once

#include <pawl/conformance.hpp>

namespace pawl::conformance {

// Serves commands from stdin until it ends.
int run_agent(const service& where);

}  // namespace pawl::conformance
