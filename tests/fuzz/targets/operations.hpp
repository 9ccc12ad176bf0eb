// What a client asks of the server that is tried, one after the other.
#pragma once

#include <pawl/backend.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>

namespace fuzz {

class operations : private pawl::loss_listener {
public:
    // i inspect, l list, t try, w wait, r reader, p permits, s several, n renew, d downgrade,
    // g give back, f force, z resize, a adopt, e examine, c count a latch down; others mean
    // nothing.
    operations(std::unique_ptr<pawl::backend> of, const boost::asio::any_io_executor& strand,
               pawl::runtime& time, std::string letters);
    operations(const operations&) = delete;
    operations& operator=(const operations&) = delete;
    ~operations() override = default;

    [[nodiscard]] bool done() const noexcept { return done_; }

private:
    void lost(std::string_view, pawl::loss_reason) override {}

    boost::asio::awaitable<void> run();
    boost::asio::awaitable<void> step(char letter);
    boost::asio::awaitable<void> take(pawl::lock_mode mode, pawl::duration wait);
    boost::asio::awaitable<void> look();
    boost::asio::awaitable<void> change(char letter);
    [[nodiscard]] pawl::claim claim(pawl::lock_mode mode);

    std::unique_ptr<pawl::backend> of_;
    pawl::runtime& time_;
    std::string letters_;
    pawl::hold held_;
    int claims_ = 0;
    bool done_ = false;
};

}  // namespace fuzz
