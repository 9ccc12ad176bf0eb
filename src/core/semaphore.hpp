// The ways to use a semaphore object, behind both faces.
#pragma once

#include "engine.hpp"

#include <memory>
#include <string>

namespace pawl::core {

// What one such object knows. Used on the strand of its engine.
struct permit_count {
    std::uint32_t all = 0;  // how many there are, as the object says; 0: as the service has it
    bool said = false;      // the service has heard it
};

// All on the engine's strand. They throw pawl::error.

// An empty result: not free, where `once`. How many there are is said until the service has heard
// it: a later resize, by anybody, then disturbs nobody. It is said again to a service that has
// forgotten.
boost::asio::awaitable<taken> take_permits(engine::ptr home, std::shared_ptr<permit_count> count,
                                           std::string name, lock_options options, bool once);
boost::asio::awaitable<bool> resize(engine::ptr home, std::shared_ptr<permit_count> count,
                                    std::string name, std::uint32_t permits);

}  // namespace pawl::core
