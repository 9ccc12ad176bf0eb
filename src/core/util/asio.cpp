// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Asio is compiled once, here.
#include <boost/asio/impl/src.hpp>
