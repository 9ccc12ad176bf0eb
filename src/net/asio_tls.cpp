// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Asio's TLS is compiled once, here.
#include <boost/asio/ssl/impl/src.hpp>
