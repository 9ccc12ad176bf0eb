// The helper's asynchronous client, whose process forks and whose child runs the event loop.
//   loop_fork close|keep|use NAME TTL_MS    held TOKEN, and then the child's line:
//                                           child STATE REASON [RELEASE REFUSALS]
//   loop_state      state STATE REASON      loop_release   release RESULT
//   loop_work       worked TIMES
#pragma once

#include <pawl/client.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <optional>
#include <sstream>
#include <string>
#include <thread>

namespace pawl::conformance {

class forking_loop {
public:
    explicit forking_loop(const service& where);
    ~forking_loop();

    void fork(std::istream& words);
    void serve(const std::string& verb);

private:
    [[noreturn]] void be_the_child(const std::string& how);
    void use_the_copy();
    int work(const std::string& prefix);

    boost::asio::io_context loop_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> has_work_{
        loop_.get_executor()};
    std::optional<client> locks_;
    held_lock lock_;
    std::thread thread_;
};

}  // namespace pawl::conformance
