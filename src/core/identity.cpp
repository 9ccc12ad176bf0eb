#include "identity.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

namespace pawl::core {

identity who_am_i(const std::string& command) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    identity me{host.data(), ::getpid(), command};
    if (me.command.empty()) {
        std::ifstream name("/proc/self/comm");
        std::getline(name, me.command);
    }
    return me;
}

}  // namespace pawl::core
