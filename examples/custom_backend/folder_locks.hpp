// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/service.hpp>

#include <string_view>

// Locks in a folder that several hosts share: "folder:/mnt/locks". The folder must exist.
[[nodiscard]] pawl::service from_folder_url(std::string_view url);
