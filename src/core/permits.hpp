// What backends that keep the number of a semaphore's permits say about it.
#pragma once

#include <pawl/backend.hpp>
#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <string>

namespace pawl::core {

// "1 permit", "5 permits".
[[nodiscard]] std::string permits_text(std::uint32_t count);

// errc::bad_option: no number is kept and none was said; another one is kept; more is asked for.
[[nodiscard]] error nobody_said(const claim& what);
[[nodiscard]] error other_number(const claim& what, std::uint32_t kept);
[[nodiscard]] error too_many(const claim& what, std::uint32_t all);

// How many there are, from what the service keeps (0: nothing) and what is asked for. Throws one of
// these where the two do not agree.
[[nodiscard]] std::uint32_t permits_in_all(const claim& what, std::uint32_t kept);

// `free_permits` of a semaphore whose service only says how many there are, and who has them.
void count_free(lock_info& what) noexcept;

}  // namespace pawl::core
