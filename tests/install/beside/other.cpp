// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "other.hpp"

#ifdef STANDALONE
#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/write.hpp>
namespace net = asio;
using failure = std::error_code;
#else
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
namespace net = boost::asio;
using failure = boost::system::error_code;
#endif

#include <atomic>
#include <chrono>
#include <thread>

namespace {

class exchange {
public:
    explicit exchange(std::size_t rounds) : rounds_(rounds) {
        net::local::connect_pair(left_, right_);
    }

    std::size_t run() {
        tick();
        net::async_read(right_, net::buffer(in_), [this](failure, std::size_t) { receive(); });
        std::thread helper([this] { loop_.run(); });
        loop_.run();
        helper.join();
        return completed_;
    }

private:
    // Each round: a timer, a post to the strand, a write; the other side reads.
    void tick() {
        timer_.expires_after(std::chrono::microseconds(50));
        timer_.async_wait(net::bind_executor(strand_, [this](failure) { step(); }));
    }
    void step() {
        ++completed_;
        net::post(strand_, [this] {
            ++completed_;
            net::async_write(left_, net::buffer(out_),
                             net::bind_executor(strand_, [this](failure, std::size_t) {
                                 ++completed_;
                                 if (--rounds_ > 0) tick();
                             }));
        });
    }
    void receive() {
        ++completed_;
        if (++received_ == total_) return;
        net::async_read(right_, net::buffer(in_), [this](failure, std::size_t) { receive(); });
    }

    net::io_context loop_;
    net::strand<net::io_context::executor_type> strand_{loop_.get_executor()};
    net::steady_timer timer_{loop_};
    net::local::stream_protocol::socket left_{loop_};
    net::local::stream_protocol::socket right_{loop_};
    char out_[1] = {};
    char in_[1] = {};
    std::size_t rounds_;
    std::size_t received_ = 0;
    const std::size_t total_ = rounds_;
    std::atomic<std::size_t> completed_{0};
};

}  // namespace

std::size_t run_other(std::size_t rounds) { return exchange(rounds).run(); }

#ifdef SAME_BOOST
namespace {
net::io_context& loop() {
    static net::io_context one;
    return one;
}
}  // namespace

void* other_loop() { return &loop(); }
void run_other_loop() { loop().run(); }
#else
void* other_loop() { return nullptr; }
void run_other_loop() {}
#endif
