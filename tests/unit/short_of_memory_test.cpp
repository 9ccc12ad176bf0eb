// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Every allocation of an operation of the sync API fails once, one after the other, Asio's own
// among them. Then the operation ends with an error or a result, and never hangs. The process
// survives, except where Asio itself ends it. Afterwards the same client works as before.
//
// An allocation that fails when a coroutine is about to wait leaves the event loop: Asio has then
// destroyed the coroutine without notice to its waiter. This must survive that:
// - The caller of a blocking operation is answered by the end of its coroutine.
// - A coroutine that cannot even begin is destroyed after its caller is told so: the caller's state
//   must still exist.
// - A release is destroyed on its way: its waiter is told that the result is unknown.
// - A request is queued for a reply and is not sent: later replies must not be taken for those of
//   others.
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

service server_service() {
    static const support::redis_server server;
    return redis::at(server.url());
}

service file_service() {
    static const support::temp_folder folder;
    static int files = 0;
    sqlite::options file_options;
    file_options.path = folder.file("locks" + std::to_string(++files) + ".db");
    return sqlite::at(file_options);
}

// The number of the failing allocation; shared by the test and its child.
class shared_number {
public:
    shared_number()
        : mapped_(static_cast<std::atomic<long>*>(::mmap(nullptr, sizeof *mapped_,
                                                         PROT_READ | PROT_WRITE,
                                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        if (mapped_ == MAP_FAILED) throw std::system_error(errno, std::system_category(), "mmap");
        new (mapped_) std::atomic<long>(0);
    }
    ~shared_number() { ::munmap(mapped_, sizeof *mapped_); }
    shared_number(const shared_number&) = delete;
    shared_number& operator=(const shared_number&) = delete;

    [[nodiscard]] std::atomic<long>& operator*() const noexcept { return *mapped_; }

private:
    std::atomic<long>* mapped_;
};

// A client, in the child of the test, whose memory fails.
class tested_client {
public:
    explicit tested_client(const service& lock_service) : locks_(lock_service) {}

    blocking::client& locks() noexcept { return locks_; }
    // A slow disk may cost a hold, but not three in a row.
    bool can_acquire() {
        return acquire_and_release() || acquire_and_release() || acquire_and_release();
    }

    static constexpr duration ttl = 400ms;

private:
    bool acquire_and_release() try {
        auto lock = locks_.acquire("it", {.ttl = ttl, .wait = 20s});
        if (!lock.owns_lock() || lock.token() <= last_) return false;
        last_ = lock.token();
        lock.renew();
        return lock.release() == release_result::released;
    } catch (const error& failed) {
        if (failed.reason() == errc::lost) return false;
        throw;
    }

    blocking::client locks_;
    fencing_token last_;
};

using operation_body = std::function<void(blocking::client&)>;

class ShortOfMemory : public ::testing::TestWithParam<backend_under_test> {
protected:
    // Every allocation of `operation` fails once; after each failure the client works. A release
    // that could not be sent leaves the lock to its ttl.
    //
    // Where Asio finds no memory in a noexcept function, the process ends. Which allocations those
    // are depends on the threads' timing. So such an end is tried again in another child, and fails
    // the test if it comes again.
    void fail_each_allocation(const operation_body& operation) {
        const auto opened_first = GetParam().open();  // a server starts now, and not in a child
        std::string result;
        long ended_at = -1;
        do {
            result = support::run_in_child([&] { return fail_allocations_in_turn(operation); });
            if (result != "died of signal 6") break;
            ASSERT_NE(std::exchange(ended_at, counter()), counter())
                << "the process ends when allocation " << counter() << " fails";
        } while (true);
        EXPECT_EQ(result, "all");
        EXPECT_GT(counter(), 20);
    }

private:
    std::atomic<long>& counter() noexcept { return *number_; }

    std::string fail_allocations_in_turn(const operation_body& operation) {
        tested_client tested(GetParam().open());
        for (bool is_done = false; !is_done;) {
            failing_memory::fail_once_at(counter());
            bool succeeded = false;
            try {
                operation(tested.locks());
                succeeded = true;
            } catch (const error&) {
            } catch (const std::bad_alloc&) {}
            const bool failed = failing_memory::stop_failing();
            if (!tested.can_acquire())
                return "allocation " + std::to_string(counter()) + " cost the client";
            if (failed) ++counter();
            is_done = succeeded && !failed;
        }
        return "all";
    }

    const shared_number number_;
};

TEST_P(ShortOfMemory, ALockIsTakenRenewedAndGivenBack) {
    fail_each_allocation([](blocking::client& locks) {
        auto lock = locks.acquire("it", {.ttl = tested_client::ttl, .wait = 20s});
        lock.renew();
        (void)lock.release();
    });
}

TEST_P(ShortOfMemory, AHandleIsDropped) {
    fail_each_allocation([](blocking::client& locks) {
        const auto lock = locks.acquire("it", {.ttl = tested_client::ttl, .wait = 20s});
    });
}

INSTANTIATE_TEST_SUITE_P(Backend, ShortOfMemory,
                         ::testing::Values(backend_under_test{"memory",
                                                              [] { return memory::at(); }},
                                           backend_under_test{"sqlite", file_service},
                                           backend_under_test{"redis", server_service}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace pawl
