// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A caller of `once`, with either API: the same cases run over both.
#pragma once

#include "test_database.hpp"

#include <pawl/guard/once.hpp>

#include <memory>

namespace guard_tests {

class once_caller {
public:
    virtual ~once_caller() = default;
    virtual guard::once_result once(const guard::once_key& operation,
                                    const guard::once_options& options,
                                    const guard::once_work& work) = 0;
    virtual guard::once_result at_least_once(const guard::once_key& operation,
                                             const guard::once_options& options,
                                             const guard::once_work& work) = 0;
    virtual guard::once_claim claim(const guard::once_key& operation,
                                    const guard::once_options& options) = 0;
    virtual bool finish(const guard::attempt& claimed, const guard::outcome& result,
                        const guard::once_options& options) = 0;
    virtual bool give_up(const guard::attempt& claimed, pawl::duration pause = {}) = 0;
    // Of the caller's connection, for the work.
    virtual guard::connection& view() = 0;
};

enum class api { sync, async };

[[nodiscard]] std::unique_ptr<once_caller> make_caller(test_database& database, api chosen_api);

}  // namespace guard_tests
