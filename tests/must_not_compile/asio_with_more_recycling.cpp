// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: needs Boost.Asio in its default settings
#ifdef MISUSE
#define BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE 8
#endif
#include <pawl/spi/backend.hpp>
