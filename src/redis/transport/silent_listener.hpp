// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "link.hpp"

namespace pawl::redis {

// For links whose messages nobody needs.
struct silent_listener final : link::listener {
    void on_message(std::string_view, std::string_view) override {}
    void on_invalidate(std::string_view) override {}
    void on_connected(const link&) override {}
};

}  // namespace pawl::redis
