// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: needs the Boost that Pawl was built with
#include <boost/version.hpp>
#ifdef MISUSE
#undef BOOST_VERSION
#define BOOST_VERSION 107400
#endif
#include <pawl/detail/asio_settings.hpp>
