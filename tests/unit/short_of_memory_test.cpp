// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Every allocation of a client's life fails once, one after the other, Asio's own among them. The
// promise is docs/decisions/046: the process survives, except where Asio itself ends it; no
// operation hangs; no lock counts as held that is not; a loss is said; and a client that has given
// up says so at every later request.
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
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
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

constexpr duration short_ttl = 60ms;

// Sees the lock "it" from outside. It has no holds, so nothing of it runs in the background.
class observer {
public:
    explicit observer(service lock_service)
        : service_(std::move(lock_service)), inspecting_(service_) {}

    // False: `lock` counts as held, and the service says that it is not.
    bool confirms(const blocking::held_lock& lock) {
        const auto seen = inspecting_.inspect("it");
        const bool is_holder = seen.held_by && seen.held_by->token == lock.token();
        return is_holder || !lock.owns_lock();
    }
    // The lock can be acquired in the end, with a newer token.
    bool can_acquire() {
        blocking::client locks(service_);
        auto lock = locks.acquire("it", {.wait = 20s});
        const bool is_newer = lock.token() > std::exchange(last_, lock.token());
        return is_newer && lock.release() == release_result::released;
    }

private:
    service service_;
    blocking::client inspecting_;
    fencing_token last_;
};

// Waits for the end of the hold; false if no loss is signalled.
bool is_loss_said(const blocking::held_lock& lock, const std::stop_token& lost) {
    while (lock.owns_lock())
        std::this_thread::yield();
    const auto give_up_at = boot_clock::now() + 20s;
    while (!lost.stop_requested() && boot_clock::now() < give_up_at)
        std::this_thread::yield();
    return lost.stop_requested();
}

bool is_renewed_or_loss_is_said(const blocking::held_lock& lock) {
    const auto lost = lock.lost();
    const auto first_end = lock.safe_until();
    while (lock.owns_lock() && lock.safe_until() == first_end)
        std::this_thread::yield();
    return lock.owns_lock() || is_loss_said(lock, lost);
}

// At most one of the requests fails because an allocation fails. False: the others fail, and not
// because the client has given up.
bool works_or_says_why(blocking::client& locks) {
    int refusals = 0;
    for (int request = 0; request < 3; ++request) {
        try {
            const auto lock = locks.acquire("other", {.ttl = short_ttl, .wait = 20s});
            return true;
        } catch (const error& failed) {
            if (failed.reason() == errc::exhausted) ++refusals;
        } catch (const std::bad_alloc&) {}
    }
    return refusals >= 2;
}

// A life of a client: true if it kept the promise.
using client_life = std::function<bool(blocking::client&, observer&)>;

class ShortOfMemory : public ::testing::TestWithParam<backend_under_test> {
protected:
    // Every allocation of a client's life fails once, each in the life of another client. A release
    // that could not be sent leaves the lock to its ttl.
    //
    // Where Asio finds no memory in a noexcept function, the process ends. Which allocations those
    // are depends on the threads' timing. So such an end is tried again in another child, and fails
    // the test if it comes again.
    void fail_each_allocation(const client_life& life) {
        const auto opened_first = GetParam().open();  // a server starts now, and not in a child
        std::string result;
        long ended_at = -1;
        do {
            result = support::run_in_child([&] { return fail_allocations_in_turn(life); });
            if (result != "died of signal 6") break;
            ASSERT_NE(std::exchange(ended_at, counter()), counter())
                << "the process ends when allocation " << counter() << " fails";
        } while (true);
        EXPECT_EQ(result, "all");
        EXPECT_GT(counter(), 20);
    }

private:
    std::atomic<long>& counter() noexcept { return *number_; }

    std::string fail_allocations_in_turn(const client_life& life) {
        const auto lock_service = GetParam().open();
        observer other(lock_service);
        if (!other.can_acquire()) return "the lock is not free";
        client_options hasty;
        hasty.drain = short_ttl;  // after that, an undo has nothing left to undo
        for (bool has_failed = true; has_failed; ++counter()) {
            auto locks = std::make_unique<blocking::client>(lock_service, client_options(hasty));
            bool kept_promise = true;
            failing_memory::fail_once_at(counter());
            try {
                kept_promise = life(*locks, other);
            } catch (const error&) {
            } catch (const std::bad_alloc&) {}
            locks.reset();
            has_failed = failing_memory::stop_failing();
            if (!kept_promise || !other.can_acquire())
                return "the promise was broken when allocation " + std::to_string(counter()) +
                       " failed";
        }
        return "all";
    }

    const shared_number number_;
};

TEST_P(ShortOfMemory, AHoldIsRenewedUntilItsReleaseOrItsLossIsSaid) {
    fail_each_allocation([](blocking::client& locks, observer& other) {
        auto lock = locks.acquire("it", {.ttl = short_ttl, .wait = 20s});
        if (!is_renewed_or_loss_is_said(lock) || !other.confirms(lock)) return false;
        if (lock.owns_lock()) lock.renew();
        if (!other.confirms(lock)) return false;
        (void)lock.release();
        return works_or_says_why(locks);
    });
}

TEST_P(ShortOfMemory, AHandleIsDropped) {
    fail_each_allocation([](blocking::client& locks, observer&) {
        { const auto lock = locks.acquire("it", {.ttl = short_ttl, .wait = 20s}); }
        return works_or_says_why(locks);
    });
}

TEST_P(ShortOfMemory, AClientIsClosedWithAHold) {
    fail_each_allocation([](blocking::client& locks, observer&) {
        const auto lock = locks.acquire("it", {.ttl = short_ttl, .wait = 20s});
        const auto lost = lock.lost();
        { const auto closed = std::move(locks); }
        return is_loss_said(lock, lost);
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
