// What backends that keep the number of a semaphore's permits say about it.
#pragma once

#include <pawl/backend.hpp>

namespace pawl::core {

// How many there are, from what the service keeps (0: nothing) and what is asked for. Throws
// errc::bad_option where the two do not agree, or more is asked for than there are.
[[nodiscard]] std::uint32_t permits_in_all(const claim& what, std::uint32_t kept);

}  // namespace pawl::core
