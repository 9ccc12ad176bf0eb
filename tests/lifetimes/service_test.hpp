// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The fixture of tests that run on each kind of service.
#pragma once

#include "tested_services.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace lifetimes {

class service_test : public testing::TestWithParam<service_kind> {
protected:
    // Throws "NOT RUN: …" without a server that the kind needs: ctest knows these words.
    const std::unique_ptr<tested_service> tested_ = GetParam().make();
};

}  // namespace lifetimes
