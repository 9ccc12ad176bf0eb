// What the names of hosts lead to, for this process: `getaddrinfo` asks here first. Other names go
// to the system.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chaos {

// Of one test; forgets its names at its end, and answers what still hangs.
class host_names {
public:
    host_names() = default;
    ~host_names();
    host_names(const host_names&) = delete;
    host_names& operator=(const host_names&) = delete;

    void lead(const std::string& name, const std::vector<std::string>& addresses);
    // As where no name server answers: until `answer`, or the end.
    void hang(const std::string& name);
    void answer();
    // Look-ups that hang now.
    [[nodiscard]] std::size_t hanging() const;
    [[nodiscard]] std::size_t asked(const std::string& name) const;
};

}  // namespace chaos
