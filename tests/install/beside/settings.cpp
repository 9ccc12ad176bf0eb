// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The first include of each header of the async API.
#include <pawl/detail/asio_settings.hpp>

int main() {}
