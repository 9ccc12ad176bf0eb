// Every allocation of an operation of the sync API fails once, one after the other, Asio's own
// among them: then the operation ends with an error or a result, never with silence; the process
// lives, but where Asio itself ends it; and afterwards the same client works as before.
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

#include <support/child.hpp>
#include <support/redis_server.hpp>
#include <support/temp_folder.hpp>

#include <pawl/blocking.hpp>
#include <pawl/memory.hpp>
#include <pawl/redis.hpp>
#include <pawl/sqlite.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <new>
#include <string>
#include <system_error>
#include <utility>

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

// Which allocation fails now; seen by the test and by its child.
class shared_number {
public:
    shared_number()
        : at_(static_cast<std::atomic<long>*>(::mmap(nullptr, sizeof *at_, PROT_READ | PROT_WRITE,
                                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        if (at_ == MAP_FAILED) throw std::system_error(errno, std::system_category(), "mmap");
        new (at_) std::atomic<long>(0);
    }
    ~shared_number() { ::munmap(at_, sizeof *at_); }
    shared_number(const shared_number&) = delete;
    shared_number& operator=(const shared_number&) = delete;

    [[nodiscard]] std::atomic<long>& operator*() const noexcept { return *at_; }

private:
    std::atomic<long>* at_;
};

// A client, in the child of the test, whose memory fails.
class subject {
public:
    explicit subject(const service& where) : locks_(where) {}

    blocking::client& locks() noexcept { return locks_; }
    bool works_again() {
        auto lock = locks_.acquire("it", {.ttl = ttl, .wait = 20s});
        if (!lock.owns_lock() || lock.token() <= last_) return false;
        last_ = lock.token();
        lock.renew();
        return lock.release() == release_result::released;
    }

    static constexpr duration ttl = 400ms;

private:
    blocking::client locks_;
    fencing_token last_;
};

using work = std::function<void(blocking::client&)>;

class ShortOfMemory : public testing::TestWithParam<backend_under_test> {
protected:
    // Every allocation of `once` fails once; after each the client works. A release that could not
    // be sent leaves the lock to its ttl.
    //
    // Where Asio finds no memory in a noexcept function, the process ends. Which allocations those
    // are depends on which thread is the faster one. So an end is tried again in another child, and
    // fails the test if it comes again.
    void with_every_allocation_failing_once(const work& once) {
        const auto opened_first = GetParam().open();  // a server starts here, and not in a child
        std::string result;
        long ended_at = -1;
        do {
            result = support::in_child([&] { return fail_one_after_the_other(once); });
            if (result != "died of signal 6") break;
            ASSERT_NE(std::exchange(ended_at, value()), value())
                << "the process ends when allocation " << value() << " fails";
        } while (true);
        EXPECT_EQ(result, "all");
        EXPECT_GT(value(), 20);
    }

private:
    std::atomic<long>& value() noexcept { return *number_; }

    std::string fail_one_after_the_other(const work& once) {
        subject tested(GetParam().open());
        for (bool failed = true; failed; ++value()) {
            failing_memory::fail_once_at(value());
            try {
                once(tested.locks());
            } catch (const error&) {
            } catch (const std::bad_alloc&) {}
            failed = failing_memory::fail_no_more();
            if (!tested.works_again())
                return "allocation " + std::to_string(value()) + " cost the client";
        }
        return "all";
    }

    const shared_number number_;
};

TEST_P(ShortOfMemory, ALockIsTakenRenewedAndGivenBack) {
    with_every_allocation_failing_once([](blocking::client& locks) {
        auto lock = locks.acquire("it", {.ttl = subject::ttl, .wait = 20s});
        lock.renew();
        lock.release();
    });
}

TEST_P(ShortOfMemory, AHandleIsDropped) {
    with_every_allocation_failing_once([](blocking::client& locks) {
        const auto lock = locks.acquire("it", {.ttl = subject::ttl, .wait = 20s});
    });
}

INSTANTIATE_TEST_SUITE_P(Backend, ShortOfMemory,
                         testing::Values(backend_under_test{"memory", memory::make},
                                         backend_under_test{"sqlite", in_a_file},
                                         backend_under_test{"redis", on_a_server}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace pawl
