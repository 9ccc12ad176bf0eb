// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Keys beside the caller's key, in the same slot of a cluster.
#pragma once

#include <string>
#include <string_view>

namespace pawl::guard::redis {

// {TAG}…::SUFFIX beside {TAG}…, and {KEY}:SUFFIX beside a KEY without a hash tag: KEY and {KEY} are
// two keys. Throws errc::bad_name for an empty key, and for one that cannot be a hash tag: it has a
// } in it.
[[nodiscard]] std::string companion_key(std::string_view key, std::string_view suffix);

}  // namespace pawl::guard::redis
