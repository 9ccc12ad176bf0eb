// Owners in coroutines: one task in several parts may take its lock again.
#include "async_world.hpp"

#include <support/eventually.hpp>

#include <pawl/lock_owner.hpp>
#include <pawl/with_lock.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class AsyncOwner : public tested::async_world {};

constexpr pawl::lock_options options{.ttl = 60s, .wait = 20s};
constexpr pawl::try_options once{.ttl = 60s};

struct nested {
    pawl::lock_owner& me;

    asio::awaitable<pawl::fencing_token> inner(pawl::held_lock& lock) { co_return lock.token(); }
    asio::awaitable<bool> operator()(pawl::held_lock& lock) {
        const auto work = std::bind_front(&nested::inner, this);
        const auto token = co_await pawl::with_lock(me, "it", options, work);
        co_return token == lock.token();
    }
};

TEST_P(AsyncOwner, NestedWorkHasTheSameToken) {
    auto locks = make_client(), other = make_client();
    pawl::lock_owner me(locks);
    EXPECT_TRUE(wait_for(pawl::with_lock(me, "it", options, nested{me})));
    EXPECT_TRUE(other.async_try_acquire("it", once, asio::use_future).get().owns_lock());
}

TEST_P(AsyncOwner, TheLastHandleGivesItBack) {
    auto locks = make_client(), other = make_client();
    pawl::lock_owner me(locks), you(locks);
    auto outer = me.async_acquire("it", options, asio::use_future).get();
    auto inner = me.async_try_acquire("it", once, asio::use_future).get();
    EXPECT_FALSE(you.async_try_acquire("it", once, asio::use_future).get().owns_lock());
    EXPECT_EQ(outer.async_release(asio::use_future).get(), pawl::release_result::still_held);
    EXPECT_FALSE(other.async_try_acquire("it", once, asio::use_future).get().owns_lock());
    inner = {};
    EXPECT_TRUE(other.async_acquire("it", options, asio::use_future).get().owns_lock());
}

TEST_P(AsyncOwner, ManyCoroutinesShareOneGrant) {
    auto locks = make_client();
    pawl::lock_owner me(locks);
    std::vector<std::future<pawl::held_lock>> crowd;
    for (int i = 0; i < 20; ++i)
        crowd.push_back(me.async_acquire("it", options, asio::use_future));
    std::vector<pawl::held_lock> handles;
    for (auto& each : crowd)
        handles.push_back(each.get());
    EXPECT_EQ(locks.statistics().grants, 1U);
    for (const auto& each : handles)
        EXPECT_EQ(each.token(), handles.front().token());
}

TEST_P(AsyncOwner, TakesSeveralWithWhatItHas) {
    auto locks = make_client(), other = make_client();
    pawl::lock_owner me(locks);
    auto mine = me.async_acquire("b", options, asio::use_future).get();
    auto all = me.async_acquire_all({"b", "a"}, options, asio::use_future).get();
    EXPECT_EQ(all.token("b"), mine.token());
    EXPECT_FALSE(other.async_try_acquire("a", once, asio::use_future).get().owns_lock());
    EXPECT_EQ(all.async_release(asio::use_future).get(), pawl::release_result::still_held);
    EXPECT_FALSE(other.async_try_acquire("b", once, asio::use_future).get().owns_lock());
    EXPECT_TRUE(other.async_try_acquire("a", once, asio::use_future).get().owns_lock());
    EXPECT_TRUE(me.async_try_acquire_all({"b"}, once, asio::use_future).get().owns_lock());
}

INSTANTIATE_TEST_SUITE_P(On, AsyncOwner, testing::ValuesIn(tested::async_places()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
