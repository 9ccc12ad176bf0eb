# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

find_package(OpenSSL REQUIRED)
set(libraries OpenSSL::SSL OpenSSL::Crypto)
pawl_weaken_boost(pawl_net asio_tls.cpp)
