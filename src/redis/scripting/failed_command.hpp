// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Names the command at which a script failed. Servers name the script and its line instead.
#pragma once

#include "../transport/link.hpp"
#include "script.hpp"

namespace pawl::redis {

// For any reply to a call of this script: an error because of a command that the server does not
// know, or that the user may not call, then says which command that is.
void name_failed_command(reply& answer, const script& called);

}  // namespace pawl::redis
