// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Boost.JSON is compiled once, here.
#include <boost/json/src.hpp>
