// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: no match for|invalid operands
#include <pawl/types.hpp>

bool newer(pawl::fencing_token token, std::uint64_t number) {
#ifdef MISUSE
    return token > number;
#else
    return token > pawl::fencing_token(number);
#endif
}
