// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: needs Boost.Asio in its default settings
#ifdef MISUSE
#define BOOST_ASIO_ENABLE_VERSION_NAMESPACE
#endif
#include <pawl/client.hpp>
