// Planted bugs of latches, as a client has them whose library makes them: between it and the
// network. Without such a bug nothing is changed.
#pragma once

#include "planted.hpp"

#include <redis/link.hpp>
#include <redis/subscriptions.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {

class latch_bugs {
public:
    explicit latch_bugs(planted bug) noexcept : bug_(bug) {}

    using words = std::vector<std::string>;

    // What is sent instead.
    [[nodiscard]] words sent(words command) const;
    // A message has come.
    void heard(const std::string& channel, const std::string& message);
    // The channels of the library that it is for.
    [[nodiscard]] std::vector<std::string> meant(const std::string& channel,
                                                 const redis::subscriptions& all) const;
    // What the library takes the answer for.
    void answered(const words& command, redis::reply& answer);

private:
    [[nodiscard]] bool without_database() const noexcept {
        return bug_ == planted::channel_without_database ||
               bug_ == planted::generation_of_another_database;
    }

    const planted bug_;
    std::set<std::string> open_;                  // keys of Redisson's latches
    std::map<std::string, std::uint64_t> first_;  // of each latch, as a message has it
};

}  // namespace pawl::simulation
