// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Any user of the host may send to the socket that notifies a client of changes.
#include "foreign_sender.hpp"
#include "lock_file_fixture.hpp"

#include "support/eventually.hpp"

namespace {

using namespace backend_tests;

class counting_listener final : public pawl::spi::loss_listener {
public:
    void on_loss(std::string_view, pawl::loss_reason) override { ++callback_count; }
    void on_possible_loss() override {}
    int callback_count = 0;
};

//   A's event loop is busy | S sends 20,000 notifications: A keeps only as many as it needs | the
//   loop continues: A works as before
TEST(SqliteNotifications, WaitingForABusyEventLoopAreBounded) {
    const lock_file_fixture lock_file;
    asio::io_context loop;
    counting_listener listener;
    pawl::spi::backend_context context;
    context.strand = asio::make_strand(loop);
    context.time = &pawl::spi::real_runtime();
    context.listener = &listener;
    context.process = {"here", ::getpid(), "test"};
    const auto strand = context.strand;
    const auto count = context.counts;
    auto at = lock_file.service().open(std::move(context));
    const auto run_until_ready = [&](auto& value) {
        while (value.wait_for(0s) != std::future_status::ready) {
            loop.restart();
            loop.run_one_for(10ms);
        }
    };
    const auto wanted = make_claim("it");
    auto acquired = spawn(strand, at->acquire(wanted, {}));
    run_until_ready(acquired);
    const pawl::spi::hold lock{wanted, *acquired.get().get()};

    constexpr int datagram_count = 20'000;
    {
        const foreign_sender sender(
            backend_tests::sqlite_connection(lock_file.path()).text("SELECT client FROM holders"));
        for (int i = 0; i < datagram_count; ++i)
            ASSERT_TRUE(sender.send("f" + std::to_string(i) + " it"));
    }
    ASSERT_TRUE(support::eventually([&] { return count->pushes.value() >= datagram_count; }));
    loop.restart();
    loop.poll();
    EXPECT_GT(listener.callback_count, 0);
    EXPECT_LE(listener.callback_count, 1000);

    auto released = spawn(strand, at->release(lock));
    run_until_ready(released);
    EXPECT_EQ(released.get().get(), pawl::release_result::released);
    auto closed = asio::co_spawn(strand, at->close(now() + 1s), asio::use_future);
    run_until_ready(closed);
}

}  // namespace
