// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Owners in coroutines: the parts of one task may acquire the same lock again.
#include "async_fixture.hpp"

#include <support/eventually.hpp>

#include <pawl/lock_owner.hpp>
#include <pawl/with_lock.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace tested;

class AsyncOwner : public async_fixture {};

struct nested {
    pawl::lock_owner& owner;

    asio::awaitable<pawl::fencing_token> inner(pawl::held_lock& lock) { co_return lock.token(); }
    asio::awaitable<bool> operator()(pawl::held_lock& lock) {
        const auto work = std::bind_front(&nested::inner, this);
        const auto token = co_await pawl::with_lock(owner, "it", with_wait, work);
        co_return token == lock.token();
    }
};

TEST_P(AsyncOwner, NestedWorkHasTheSameToken) {
    auto locks = make_client(), other = make_client();
    pawl::lock_owner owner(locks);
    EXPECT_TRUE(wait_for(pawl::with_lock(owner, "it", with_wait, nested{owner})));
    EXPECT_TRUE(other.async_try_acquire("it", no_wait, asio::use_future).get().owns_lock());
}

TEST_P(AsyncOwner, TheLastHandleGivesItBack) {
    auto locks = make_client(), other = make_client();
    pawl::lock_owner owner(locks), you(locks);
    auto outer = owner.async_acquire("it", with_wait, asio::use_future).get();
    auto inner = owner.async_try_acquire("it", no_wait, asio::use_future).get();
    EXPECT_FALSE(you.async_try_acquire("it", no_wait, asio::use_future).get().owns_lock());
    EXPECT_EQ(outer.async_release(asio::use_future).get(), pawl::release_result::still_held);
    EXPECT_FALSE(other.async_try_acquire("it", no_wait, asio::use_future).get().owns_lock());
    inner = {};
    EXPECT_TRUE(other.async_acquire("it", with_wait, asio::use_future).get().owns_lock());
}

TEST_P(AsyncOwner, ManyCoroutinesShareOneGrant) {
    auto locks = make_client();
    pawl::lock_owner owner(locks);
    std::vector<std::future<pawl::held_lock>> crowd;
    for (int i = 0; i < 20; ++i)
        crowd.push_back(owner.async_acquire("it", with_wait, asio::use_future));
    std::vector<pawl::held_lock> handles;
    for (auto& each : crowd)
        handles.push_back(each.get());
    EXPECT_EQ(locks.statistics().grants, 1U);
    for (const auto& each : handles)
        EXPECT_EQ(each.token(), handles.front().token());
}

TEST_P(AsyncOwner, TakesSeveralWithWhatItHas) {
    auto locks = make_client(), other = make_client();
    pawl::lock_owner owner(locks);
    auto own_lock = owner.async_acquire("b", with_wait, asio::use_future).get();
    auto all = owner.async_acquire_all({"b", "a"}, with_wait, asio::use_future).get();
    EXPECT_EQ(all.token("b"), own_lock.token());
    EXPECT_FALSE(other.async_try_acquire("a", no_wait, asio::use_future).get().owns_lock());
    EXPECT_EQ(all.async_release(asio::use_future).get(), pawl::release_result::still_held);
    EXPECT_FALSE(other.async_try_acquire("b", no_wait, asio::use_future).get().owns_lock());
    EXPECT_TRUE(other.async_try_acquire("a", no_wait, asio::use_future).get().owns_lock());
    EXPECT_TRUE(owner.async_try_acquire_all({"b"}, no_wait, asio::use_future).get().owns_lock());
}

INSTANTIATE_TEST_SUITE_P(On, AsyncOwner, testing::ValuesIn(tested::async_lock_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
