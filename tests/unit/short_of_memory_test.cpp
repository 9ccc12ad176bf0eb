// Every allocation of an operation of the sync API fails once, one after the other, Asio's own
// among them: then the operation ends with an error or a result, never with silence; the process
// lives; and afterwards the same client works as before.
//
// An allocation that fails when a coroutine is about to wait leaves the event loop: Asio has then
// destroyed the coroutine, without a word to who waits for it. What must survive that:
// - The caller of a blocking operation is answered by the end of its coroutine.
// - A coroutine that cannot even begin is destroyed later than its caller is told so: what the
//   caller waits with must still be there.
// - A release is destroyed on its way: its waiter is told that nothing is known.
// - A request is put among those that wait for a reply and is not sent: the replies after it must
//   not be taken for those of others.
#include "failing_memory.hpp"

#include <support/redis_server.hpp>
#include <support/temp_folder.hpp>

#include <pawl/blocking.hpp>
#include <pawl/memory.hpp>
#include <pawl/redis.hpp>
#include <pawl/sqlite.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace pawl {
namespace {

using namespace std::chrono_literals;

struct backend_under_test {
    std::string name;
    std::function<service()> open;  // what it holds lives with it
};

service on_a_server() {
    static const support::redis_server server;
    return redis::at(server.url());
}

service in_a_file() {
    static const support::temp_folder folder;
    static int files = 0;
    sqlite::options where;
    where.path = folder.file("locks" + std::to_string(++files) + ".db");
    return sqlite::at(where);
}

class ShortOfMemory : public testing::TestWithParam<backend_under_test> {
protected:
    // Every allocation of `work` fails once; after each the client works. A release that could not
    // be sent leaves the lock to its ttl.
    void with_every_allocation_failing_once(const std::function<void()>& work) {
        bool failed = true;
        for (long number = 0; failed; ++number) {
            failing_memory::fail_once_at(number);
            try {
                work();
            } catch (const error&) {
            } catch (const std::bad_alloc&) {}
            failed = failing_memory::fail_no_more();
            ASSERT_TRUE(works_again()) << "after allocation " << number << " had failed";
        }
    }
    bool works_again() {
        try {
            auto lock = locks_.acquire("it", {.ttl = ttl, .wait = 20s});
            if (!lock.owns_lock() || lock.token() <= last_) return false;
            last_ = lock.token();
            lock.renew();
            return lock.release() == release_result::released;
        } catch (const error& failed) {
            ADD_FAILURE() << failed.what();
            return false;
        }
    }

    static constexpr duration ttl = 400ms;
    const service where_ = GetParam().open();
    blocking::client locks_{where_};
    fencing_token last_;
};

TEST_P(ShortOfMemory, ALockIsTakenRenewedAndGivenBack) {
    with_every_allocation_failing_once([this] {
        auto lock = locks_.acquire("it", {.ttl = ttl, .wait = 20s});
        lock.renew();
        lock.release();
    });
}

TEST_P(ShortOfMemory, AHandleIsDropped) {
    with_every_allocation_failing_once(
        [this] { const auto lock = locks_.acquire("it", {.ttl = ttl, .wait = 20s}); });
}

INSTANTIATE_TEST_SUITE_P(Backend, ShortOfMemory,
                         testing::Values(backend_under_test{"memory", memory::make},
                                         backend_under_test{"sqlite", in_a_file},
                                         backend_under_test{"redis", on_a_server}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace pawl
