// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Asio compiled once, as its manual describes.
#include <boost/asio/impl/src.hpp>
