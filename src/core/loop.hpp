// The event loop of a blocking client. A caller that waits drives it, which saves two context
// switches a round trip; a thread of its own does when nobody waits.
#pragma once

#include "fork_mark.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace pawl::core {
class engine;
}

namespace pawl::blocking {

class loop : public std::enable_shared_from_this<loop> {
public:
    loop();
    ~loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    // One caller's wait for one answer, which is given on the loop.
    class call {
    public:
        explicit call(loop& home) : home_(home) {}
        void answered();
        void wait();

    private:
        friend class loop;
        loop& home_;
        // Under the loop's mutex.
        bool done_ = false;
        bool drives_ = false;
        std::list<call*> in_line_{this};  // made early: waiting must not need memory
        std::condition_variable woken_;
    };

    // Runs what is ready, without waiting, if nobody else drives.
    void nudge() noexcept;
    void stop();
    [[nodiscard]] bool stopped();

    [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }
    [[nodiscard]] bool forked() const noexcept { return made_in_.forked(); }
    // Told once, before any call.
    void serve(std::shared_ptr<core::engine> served);
    std::shared_ptr<core::engine> engine;

private:
    void background();
    void drive() noexcept;
    void survived() noexcept;
    [[nodiscard]] bool renewal_is_near() const noexcept;
    void hand_on();

    boost::asio::io_context context_{1};
    // Without work it would stop, and waiting for it would spin.
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        context_.get_executor()};
    std::mutex mutex_;
    bool driven_ = false;
    bool by_thread_ = false;  // driven by the thread of its own
    bool parked_ = false;     // that thread waits to be told that the callers are gone
    bool stopped_ = false;
    std::atomic<const core::engine*> served_ = nullptr;
    std::size_t callers_ = 0;
    std::uint64_t calls_ = 0;
    std::list<call*> waiting_;
    std::condition_variable thread_woken_;
    const core::fork_mark made_in_;
    std::thread thread_;
};

}  // namespace pawl::blocking
