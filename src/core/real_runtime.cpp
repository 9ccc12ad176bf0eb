#include <pawl/runtime.hpp>

#include "loss_notifier.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace pawl {
namespace {

class real_timer final : public timer {
public:
    explicit real_timer(const boost::asio::any_io_executor& on) : timer_(on) {}

    void async_wait_until(time_point when, handler done) override {
        // Far enough for any lease, and near enough that Asio's arithmetic cannot overflow.
        timer_.expires_at(std::min(when, boot_clock::now() + std::chrono::hours(24 * 365)));
        timer_.async_wait(std::move(done));
    }
    void cancel() override { timer_.cancel(); }

private:
    boost::asio::basic_waitable_timer<boot_clock> timer_;
};

class real final : public runtime {
public:
    time_point now() const noexcept override { return boot_clock::now(); }
    std::chrono::system_clock::time_point wall() const noexcept override {
        return std::chrono::system_clock::now();
    }
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor& on) override {
        return std::make_unique<real_timer>(on);
    }
    // No generator of our own: its state would be copied by fork, and two owners would be equal.
    void random(std::span<std::byte> fill) override {
        while (!fill.empty()) {
            const auto got = ::getrandom(fill.data(), fill.size(), 0);
            if (got < 0 && errno != EINTR)
                throw std::system_error(errno, std::system_category(), "getrandom");
            if (got > 0) fill = fill.subspan(static_cast<std::size_t>(got));
        }
    }
    bool passes_by_itself() const noexcept override { return true; }
};

}  // namespace

void runtime::notify_losses(std::list<std::stop_source> lost) noexcept {
    core::loss_notifier::instance().notify(std::move(lost));
}

runtime& real_runtime() noexcept {
    static real one;
    return one;
}

}  // namespace pawl
