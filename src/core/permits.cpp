#include "permits.hpp"

#include <pawl/error.hpp>

#include <string>

namespace pawl::core {

std::uint32_t permits_in_all(const claim& what, std::uint32_t kept) {
    const auto all = kept != 0 ? kept : what.of;
    const auto semaphore =
        "The semaphore '" + what.name + "' has " + std::to_string(all) + " permits, ";
    if (all == 0)
        throw error(errc::bad_option, "Nobody has said how many permits '" + what.name +
                                          "' has; say it once with `of`.");
    if (what.of != 0 && what.of != all)
        throw error(errc::bad_option,
                    semaphore + "not " + std::to_string(what.of) + "; change that with resize.");
    if (what.permits > all)
        throw error(errc::bad_option, semaphore + "and you ask for " +
                                          std::to_string(what.permits) + "; ask for fewer.");
    return all;
}

}  // namespace pawl::core
