// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Boost.Redis is compiled once, here.
#include <boost/redis/src.hpp>
