// The helper process of the promises about killed and stopped processes.
#pragma once

#include <pawl/conformance.hpp>

#include <string>

namespace pawl::conformance {

// Serves commands from stdin until it ends.
int run_agent(const service& where);

// One line of an answer.
void say(const std::string& line);

// One word for each; `to_string` speaks to people.
[[nodiscard]] std::string word(lock_state state);
[[nodiscard]] std::string word(release_result result);

template <class Lock>
[[nodiscard]] std::string described(const Lock& lock) {
    const bool forked = lock.why_lost() == loss_reason::forked;
    return word(lock.state()) + (forked ? " forked" : "");
}

}  // namespace pawl::conformance
