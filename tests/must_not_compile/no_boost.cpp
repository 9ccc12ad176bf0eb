// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: needs Boost.s headers: use find_package
#ifdef MISUSE
// As the compiler of a program whose include folders lack Boost.
#undef __has_include
#define __has_include(header) 0
#endif
#include <pawl/detail/asio_settings.hpp>
