// Any user of the host may send to the socket on which a client is told of changes.
#include "sqlite_world.hpp"

#include "support/eventually.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

namespace {

using namespace backend_tests;

class counting_listener final : public pawl::loss_listener {
public:
    void lost(std::string_view, pawl::loss_reason) override { ++told; }
    int told = 0;
};

// A socket that sends to the client at `address`, as the file names it.
class stranger_at_the_door {
public:
    explicit stranger_at_the_door(const std::string& address) {
        const auto name = "pawl-sqlite/" + address.substr(address.find('/') + 1);
        where_.sun_family = AF_UNIX;
        std::memcpy(where_.sun_path + 1, name.data(), name.size());
        size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    }
    ~stranger_at_the_door() { ::close(socket_); }
    stranger_at_the_door(const stranger_at_the_door&) = delete;
    stranger_at_the_door& operator=(const stranger_at_the_door&) = delete;

    // Waits while the mailbox is full.
    [[nodiscard]] bool send(const std::string& text) const {
        return ::sendto(socket_, text.data(), text.size(), 0,
                        reinterpret_cast<const sockaddr*>(&where_),
                        size_) == static_cast<ssize_t>(text.size());
    }

private:
    const int socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un where_{};
    socklen_t size_ = 0;
};

//   A's event loop is busy with something else | S rings 20,000 times: A keeps so many of the rings
//   as it needs at most | the loop goes on: A works as before
TEST(sqlite_rings, that_wait_for_a_busy_event_loop_are_bounded) {
    const sqlite_world world;
    asio::io_context loop;
    counting_listener listener;
    pawl::backend_context context;
    context.strand = asio::make_strand(loop);
    context.time = &pawl::real_runtime();
    context.listener = &listener;
    context.who = {"here", ::getpid(), "test"};
    const auto strand = context.strand;
    const auto count = context.count;
    auto at = world.service().open(std::move(context));
    const auto run_until_ready = [&](auto& answer) {
        while (answer.wait_for(0s) != std::future_status::ready) {
            loop.restart();
            loop.run_one_for(10ms);
        }
    };
    const auto wanted = ask("it");
    auto taken = spawn(strand, at->acquire(wanted, {}));
    run_until_ready(taken);
    const pawl::hold lock{wanted, *taken.get().get()};

    constexpr int rings = 20'000;
    {
        const stranger_at_the_door stranger(
            backend_tests::stranger(world.path()).text("SELECT client FROM holders"));
        for (int i = 0; i < rings; ++i)
            ASSERT_TRUE(stranger.send("f" + std::to_string(i) + " it"));
    }
    ASSERT_TRUE(support::eventually([&] { return count->pushes.value() >= rings; }));
    loop.restart();
    loop.poll();
    EXPECT_GT(listener.told, 0);
    EXPECT_LE(listener.told, 1000);

    auto released = spawn(strand, at->release(lock));
    run_until_ready(released);
    EXPECT_EQ(released.get().get(), pawl::release_result::released);
    auto closed = asio::co_spawn(strand, at->close(now() + 1s), asio::use_future);
    run_until_ready(closed);
}

}  // namespace
