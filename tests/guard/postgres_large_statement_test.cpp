// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A statement that does not fit into the socket, while the server sends much: it writes a warning
// for each text with a backslash, and reads nothing while nobody reads the warnings.
#include "test_database.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;

TEST(GuardAsyncPostgres, ALargeStatementIsSentWhileTheServerSendsMuch) {
    const auto database = make_postgres({});
    asio::io_context loop;
    const auto opened = database->connect(loop.get_executor());
    auto& view = opened->view();
    std::string texts = "'a'";
    for (int i = 0; i < 60'000; ++i)
        texts += ",'\\\\b'";
    const guard::statement warned{"SET standard_conforming_strings = off"};
    guard::statement large{"SELECT length($1), 'x' IN (" + texts + ")",
                           {std::string(std::size_t{48} << 20, 'x')}};
    large.is_binary = true;
    std::exception_ptr failure;
    guard::rows answer;
    const auto run = [&]() -> asio::awaitable<guard::rows> { return view.execute(large); };
    const auto prepare = [&]() -> asio::awaitable<guard::rows> { return view.execute(warned); };
    asio::co_spawn(loop, prepare(), [&](const std::exception_ptr& e, const guard::rows&) {
        failure = e;
        asio::co_spawn(loop, run(), [&](const std::exception_ptr& error, guard::rows result) {
            if (error) failure = error;
            answer = std::move(result);
        });
    });
    loop.run_for(3min);
    if (failure) std::rethrow_exception(failure);
    ASSERT_EQ(answer.values.size(), 1U) << "nobody reads";
    EXPECT_EQ(guard::as_number(answer.values.at(0).at(0)), std::int64_t{48} << 20);
}

}  // namespace
}  // namespace guard_tests
