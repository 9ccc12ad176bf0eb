// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/async_fence.hpp>

#include "fence_rules.hpp"

namespace pawl::guard {

boost::asio::awaitable<fence_result> async_fence(async_connection& db, std::string resource,
                                                 fencing_token token) {
    const auto raise = fence_statement(db.dialect(), resource, token);
    expect_transaction(db.in_transaction(), resource);
    const rows answer = co_await db.execute(raise);
    if (const auto verdict = judge_fence(answer, token)) co_return *verdict;
    const auto read = newest_fence_statement(db.dialect(), resource);
    const rows newest = co_await db.execute(read);
    if (const auto verdict = judge_fence(newest, token)) co_return *verdict;
    throw missing_fence(resource);
}

}  // namespace pawl::guard
