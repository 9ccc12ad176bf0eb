#include "virtual_runtime.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <optional>

namespace asio = boost::asio;

namespace pawl::simulation {

class virtual_runtime::virtual_timer final : public timer {
public:
    virtual_timer(virtual_runtime& home, asio::any_io_executor on)
        : home_(home), on_(std::move(on)) {}
    ~virtual_timer() override { cancel(); }

    void async_wait_until(time_point when, handler done) override {
        const own_bookkeeping uncounted;
        done_ = std::move(done);
        ++home_.pending_;
        auto& world = home_.on_.world();
        event_ = world.at(home_.on_.instant_of(when), [this] { finish({}); });
    }

    void cancel() override {
        if (!done_) return;
        const own_bookkeeping uncounted;
        home_.on_.world().cancel(event_);
        finish(asio::error::operation_aborted);
    }

private:
    // The event belongs to the world, so it comes in time even while the program is paused; what it
    // posts waits there.
    void finish(boost::system::error_code how) {
        --home_.pending_;
        asio::post(on_, asio::append(std::exchange(done_, nullptr), how));
    }

    virtual_runtime& home_;
    asio::any_io_executor on_;
    handler done_;
    scheduler::event event_{};
};

// A planted bug's.
class virtual_runtime::dead_timer final : public timer {
public:
    void async_wait_until(time_point, handler done) override { done_ = std::move(done); }
    void cancel() override {}

private:
    handler done_;
};

std::chrono::system_clock::time_point virtual_runtime::wall() const noexcept {
    // 2026-01-01 plus the program's own time.
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::seconds(1767225600) + on_.now().time_since_epoch()));
}

std::unique_ptr<timer> virtual_runtime::make_timer(const asio::any_io_executor& on) {
    if (loses_timers_ && !on_.has().has_timers()) return std::make_unique<dead_timer>();
    on_.has().expect_timers();
    return std::make_unique<virtual_timer>(*this, on);
}

void virtual_runtime::notify_losses(std::list<std::stop_source> lost) noexcept {
    const own_bookkeeping uncounted;
    auto& world = on_.world();
    const bool waits = one_thread_ && busy_until_ > world.now();
    world.at(waits ? busy_until_ : world.now(), [this, lost = std::move(lost)]() mutable {
        if (one_thread_ && busy_until_ > on_.world().now()) return notify_losses(std::move(lost));
        on_.post([lost = std::move(lost)]() mutable {
            for (auto& source : lost)
                source.request_stop();
        });
    });
}

void virtual_runtime::random(std::span<std::byte> fill) {
    for (auto& one : fill)
        one = static_cast<std::byte>(chance_.next());
}

}  // namespace pawl::simulation
