# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

pawl_weaken_boost(pawl_consul boost_json.cpp)
