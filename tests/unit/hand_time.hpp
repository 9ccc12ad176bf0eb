// Time that the test moves, and timers that ring when it does.
#pragma once

#include <pawl/runtime.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace pawl {

// Must outlive its timers. One thread.
class hand_moved final : public runtime {
public:
    time_point now() const noexcept override { return now_; }
    std::chrono::system_clock::time_point wall() const noexcept override { return {}; }
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor& on) override {
        return std::make_unique<hand_timer>(*this, on);
    }
    void random(std::span<std::byte> fill) override {
        std::fill(fill.begin(), fill.end(), std::byte{});
    }
    bool passes_by_itself() const noexcept override { return false; }

    void move(duration by) {
        now_ += by;
        for (auto* each : timers_)
            each->look();
    }

private:
    class hand_timer final : public timer {
    public:
        hand_timer(hand_moved& home, boost::asio::any_io_executor on)
            : home_(home), on_(std::move(on)) {
            home_.timers_.insert(this);
        }
        ~hand_timer() override {
            hand_timer::cancel();
            home_.timers_.erase(this);
        }
        void async_wait_until(time_point when, handler done) override {
            when_ = when;
            done_ = std::move(done);
            look();
        }
        void cancel() override { finish(boost::asio::error::operation_aborted); }
        void look() {
            if (when_ <= home_.now_) finish({});
        }

    private:
        void finish(boost::system::error_code how) {
            if (!done_) return;
            boost::asio::post(on_, boost::asio::append(std::exchange(done_, nullptr), how));
        }

        hand_moved& home_;
        boost::asio::any_io_executor on_;
        time_point when_ = time_point::max();
        handler done_;
    };

    time_point now_{std::chrono::seconds(100)};
    std::set<hand_timer*> timers_;
};

}  // namespace pawl
