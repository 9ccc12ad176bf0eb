// Memory that ends when a handle is dropped: no lock stays behind that nobody has a handle of.
#include "hand_time.hpp"

#include <pawl/client.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <optional>

namespace {

// How many more allocations of this thread succeed; below 0: all do.
thread_local long left = -1;

void* allocate(std::size_t size) {
    if (left == 0) throw std::bad_alloc();
    if (left > 0) --left;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return allocate(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace pawl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr duration ttl = 10s;

class OutOfMemory : public testing::Test {
protected:
    OutOfMemory() {
        client_options named;
        named.time = &time_;
        service where = memory::make();
        locks_.emplace(loop_.get_executor(), where, named);
        other_.emplace(loop_.get_executor(), where, named);
    }
    ~OutOfMemory() override {
        locks_.reset();
        other_.reset();
        run();
    }

    void run() {
        loop_.restart();
        loop_.poll();
    }

    bool is_free() {
        bool free = false;
        other_->async_inspect("it", [&](const boost::system::error_code& ec, const lock_info& at) {
            free = !ec && !at.held_by;
        });
        run();
        return free;
    }

    asio::io_context loop_;
    hand_moved time_;
    std::optional<client> locks_, other_;
};

void without_memory(const std::function<void()>& work) {
    left = 0;
    work();
    left = -1;
}

// The handle cannot say that it is gone: the keeper sees it at the next renewal.
TEST_F(OutOfMemory, ADroppedHandleIsNoticedAtTheNextRenewal) {
    std::optional<held_lock> mine;
    locks_->async_acquire("it", {.ttl = ttl}, [&](const boost::system::error_code&, held_lock got) {
        mine.emplace(std::move(got));
    });
    run();
    ASSERT_TRUE(mine && mine->owns_lock());
    without_memory([&] { mine.reset(); });
    run();
    EXPECT_FALSE(is_free()) << "nothing has run since";
    time_.move(ttl / 2);
    run();
    EXPECT_TRUE(is_free());
}

}  // namespace
}  // namespace pawl
