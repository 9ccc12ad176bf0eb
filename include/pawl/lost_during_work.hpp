// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The exception of work that has run without its lock. Standard headers only.
#pragma once

#include <pawl/error.hpp>

#include <memory>
#include <utility>

namespace pawl {

// Thrown by `with_lock` and `try_with_lock` when the work has returned normally, but the hold had
// ended before its release: a part of the work may have run without the lock. Its code is
// errc::lost. After work without a result, the exception is a plain pawl::error with this code.
template <class Result>
class lost_during_work : public error {
public:
    lost_during_work(const error& loss, Result result)
        : error(loss), result_(std::make_shared<Result>(std::move(result))) {}  // by with_lock

    // What the work returned. Copies of the exception share it.
    [[nodiscard]] Result& result() const noexcept { return *result_; }

private:
    std::shared_ptr<Result> result_;  // an exception must be copied without throwing
};

}  // namespace pawl
