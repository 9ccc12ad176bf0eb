// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Boost.Redis and Asio's TLS are compiled once, here.
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/redis/src.hpp>
