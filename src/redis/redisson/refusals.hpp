// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The refusals of this layout's scripts, and their error messages.
#pragma once

#include "lock_object.hpp"

#include "../transport/link.hpp"

namespace pawl::redis::redisson {

// True: the script refused the request, and has taken nothing for it.
[[nodiscard]] bool is_refused_by_script(const reply& reply);
// If the reply is an error, throws the matching error for that lock.
void throw_if_refused(const reply& reply, const object_names& keys);
// If the reply is a refusal that only requests for permits get, throws the matching error.
void throw_if_permits_refused(const reply& reply, const claim& requested);
// Throws errc::bad_option for a number of permits that Java cannot read.
void check_permit_count(std::uint32_t permits);
// Throws errc::bad_option for more permits than one script should process.
void check_entry_count(const claim& requested);

}  // namespace pawl::redis::redisson
