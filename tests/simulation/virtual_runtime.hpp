// Time and chance of one simulated program.
#pragma once

#include "prng.hpp"
#include "process.hpp"

#include <pawl/runtime.hpp>

namespace pawl::simulation {

// Must outlive the timers that it makes.
class virtual_runtime final : public runtime {
public:
    virtual_runtime(process& on, prng chance) : on_(on), chance_(chance) {}

    time_point now() const noexcept override { return on_.now(); }
    std::chrono::system_clock::time_point wall() const noexcept override;
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor& on) override;
    void random(std::span<std::byte> fill) override;
    bool passes_by_itself() const noexcept override { return false; }
    // Each on a thread of its own, which may be busy for as long as its callback blocks.
    void notify_losses(std::list<std::stop_source> lost) noexcept override;

    // For the callback of a loss: it blocks for so long.
    void block(instant time) { busy_until_ = on_.world().now() + time; }
    // Plants a bug: all callbacks run on one thread, one after the other.
    void use_one_thread() { one_thread_ = true; }
    // Plants a bug: a timer that cannot be made never rings.
    void lose_timers() { loses_timers_ = true; }

    // Timers that somebody waits on.
    [[nodiscard]] std::size_t pending() const noexcept { return pending_; }

private:
    class virtual_timer;
    class dead_timer;

    process& on_;
    prng chance_;
    std::size_t pending_ = 0;
    bool one_thread_ = false;
    bool loses_timers_ = false;
    instant busy_until_{};
};

}  // namespace pawl::simulation
