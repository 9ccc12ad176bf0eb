// What the scripts of this layout refuse, and the sentences for it.
#pragma once

#include "target.hpp"

#include "../link.hpp"

namespace pawl::redis::redisson {

// True: the script said so before it wrote anything.
[[nodiscard]] bool refused_by_script(const reply& answer);
// Throws what an error of the server means for that lock.
void refuse(const reply& answer, const names& keys);
// The same for what only who asks for permits is told.
void refuse_count(const reply& answer, const claim& what);
// Throws errc::bad_option for a number of permits that Java cannot read.
void refuse_huge_count(std::uint32_t permits);
// The same for more permits at once than a server should work through in one script.
void refuse_many_entries(const claim& what);

}  // namespace pawl::redis::redisson
