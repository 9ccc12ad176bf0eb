// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "loss_notifier.hpp"
#include "never_destroyed.hpp"
#include "spi.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace pawl {
namespace {

class real_timer final : public timer {
public:
    explicit real_timer(const boost::asio::any_io_executor& executor) : timer_(executor) {}

    void async_wait_until(time_point when, wait_handler handler) override {
        // This is longer than any lease, and short enough that Asio's arithmetic cannot overflow.
        timer_.expires_at(std::min(when, boot_clock::now() + std::chrono::hours(24 * 365)));
        timer_.async_wait(std::move(handler));
    }
    void cancel() override { timer_.cancel(); }

private:
    boost::asio::basic_waitable_timer<boot_clock> timer_;
};

class system_runtime final : public runtime {
public:
    time_point now() const noexcept override { return boot_clock::now(); }
    std::chrono::system_clock::time_point wall_clock() const noexcept override {
        return std::chrono::system_clock::now();
    }
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor& executor) override {
        return std::make_unique<real_timer>(executor);
    }
    // Uses only the system's generator, and requests nothing in advance. A fork, or the snapshot of
    // a machine, would copy the state of any other generator, and two owners would be equal.
    void random(std::span<std::byte> bytes) override {
        while (!bytes.empty()) {
            const auto bytes_read = ::getrandom(bytes.data(), bytes.size(), 0);
            if (bytes_read < 0 && errno != EINTR)
                throw std::system_error(errno, std::system_category(), "getrandom");
            if (bytes_read > 0) bytes = bytes.subspan(static_cast<std::size_t>(bytes_read));
        }
    }
    bool is_real_time() const noexcept override { return true; }
};

}  // namespace

void runtime::notify_losses(std::list<std::stop_source> sources) noexcept {
    core::loss_notifier::instance().notify(std::move(sources));
}

runtime& spi::real_runtime() noexcept {
    static core::never_destroyed<system_runtime> instance;
    return instance.value;
}

}  // namespace pawl
