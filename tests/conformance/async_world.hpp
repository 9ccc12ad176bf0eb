// One event loop with a thread of its own, and a service: what tests of the asynchronous face run
// on.
#pragma once

#include <pawl/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tested {

struct place {
    std::string name;
    std::function<pawl::service()> make;
};
inline void PrintTo(const place& where, std::ostream* out) { *out << where.name; }

// Memory, SQLite and Redis.
[[nodiscard]] std::vector<place> async_places();

class async_world : public testing::TestWithParam<place> {
protected:
    ~async_world() override {
        guard.reset();
        thread.join();
    }
    pawl::client make_client() { return pawl::client(loop.get_executor(), where); }
    template <class Answer>
    Answer wait_for(boost::asio::awaitable<Answer> what) {
        return boost::asio::co_spawn(loop, std::move(what), boost::asio::use_future).get();
    }

    boost::asio::io_context loop;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{
        loop.get_executor()};
    std::jthread thread{[this] { loop.run(); }};
    pawl::service where = GetParam().make();
};

}  // namespace tested
