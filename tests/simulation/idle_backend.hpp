// A service that gives nothing and says nothing, for tests of what the core makes of it.
#pragma once

#include <pawl/backend.hpp>

namespace pawl::simulation {

class idle_backend : public backend {
public:
    boost::asio::awaitable<std::optional<grant>> acquire(const claim&, time_point) override {
        co_return std::nullopt;
    }
    boost::asio::awaitable<void> renew(std::span<renewal>) override { co_return; }
    boost::asio::awaitable<release_result> release(const hold&) override {
        co_return release_result::unknown;
    }
    boost::asio::awaitable<lock_info> inspect(std::string_view) override { co_return lock_info{}; }
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view) override {
        co_return std::vector<lock_info>{};
    }
    boost::asio::awaitable<bool> force_release(std::string_view) override { co_return false; }
    boost::asio::awaitable<examination> examine() override { co_return examination{}; }
    boost::asio::awaitable<void> close(time_point) override { co_return; }
    [[nodiscard]] promises promised() const noexcept override { return {}; }
};

}  // namespace pawl::simulation
