// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Elections in coroutines, callbacks and futures.
#include "async_fixture.hpp"

#include <pawl/election.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class AsyncElection : public tested::async_fixture {};

TEST_P(AsyncElection, OneLeadsAndObserversFollow) {
    auto locks = make_client(), other = make_client(), observer = make_client();
    const pawl::lease_options options{.ttl = 60s};
    pawl::election own_election(locks, "it", options), yours(other, "it", options),
        seen(observer, "it");
    auto first = seen.async_wait_change({}, 5ms, asio::use_future);
    auto term = own_election.async_campaign(20s, asio::use_future).get();
    EXPECT_EQ(first.get().held_by->token, term.token());
    EXPECT_EQ(seen.async_leader(asio::use_future).get().held_by->token, term.token());
    auto next = yours.async_campaign(20s, asio::use_future);
    auto change = seen.async_wait_change(term.token(), 5ms, asio::use_future);
    EXPECT_EQ(term.async_release(asio::use_future).get(), pawl::release_result::released);
    const auto second = next.get();
    const auto info = change.get();
    EXPECT_GT(second.token(), term.token());
    EXPECT_TRUE(!info.held_by || info.held_by->token == second.token());
}

INSTANTIATE_TEST_SUITE_P(On, AsyncElection, testing::ValuesIn(tested::async_lock_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
