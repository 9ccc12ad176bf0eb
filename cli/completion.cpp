#include "completions.hpp"
#include "failure.hpp"
#include "verbs.hpp"

#include <iostream>

namespace pawl::cli {

int completion(const std::string& shell) {
    for (const auto& [name, script] : completions::all) {
        if (shell != name) continue;
        std::cout << script;
        return static_cast<int>(exit_code::ok);
    }
    throw failure(exit_code::usage, "There is no completion for '" + shell +
                                        "'; it is there for bash, zsh and fish.");
}

}  // namespace pawl::cli
