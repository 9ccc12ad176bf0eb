// One request that waits for its replies; it lives in its caller's frame.
#pragma once

#include "link.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

class connection;

// Adds one command as the server reads it.
void append_command(std::string& to, std::span<const std::string_view> words);

// Used on one strand; begun by `connection::send`.
class pending {
public:
    pending() = default;
    ~pending() { leave(); }
    pending(const pending&) = delete;
    pending& operator=(const pending&) = delete;

    // void(): when the last reply is there, or `fail` was called, or the caller was cancelled.
    auto async_answer() {
        const start begin{this};
        return boost::asio::async_initiate<const boost::asio::deferred_t, void()>(
            begin, boost::asio::deferred);
    }
    void fail(const std::string& why);
    // Throws connection_lost, or operation_aborted when the caller was cancelled.
    void throw_failure(const std::string& about) const;

    reply answer;                // the last one
    std::vector<reply> earlier;  // those before it
    time_point answer_by = time_point::max();
    time_point give_up_at = time_point::max();

private:
    friend class connection;
    using handler = boost::asio::any_completion_handler<void()>;
    struct start {
        pending* one;
        void operator()(handler done) const { one->wait(std::move(done)); }
    };

    void wait(handler done);
    void take(reply message, bool last);
    void cancel();
    void leave() noexcept;
    void complete_soon();
    void drop() noexcept;

    connection* on_ = nullptr;  // while it waits there
    std::uint64_t number_ = 0;
    handler done_;
    std::string failure_;  // why there will be no reply; empty when there is one
    bool cancelled_ = false;
};

}  // namespace pawl::redis
