// One command on its way: it may be given up by its caller before Boost.Redis is done with it.
#pragma once

#include "reply_builder.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/redis/adapter/any_adapter.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/request.hpp>

#include <list>
#include <memory>
#include <string>

namespace pawl::redis {

[[nodiscard]] boost::redis::any_adapter adapt(reply_builder& into);

// Used on one strand.
class pending : public std::enable_shared_from_this<pending> {
public:
    using list = std::list<std::shared_ptr<pending>>;

    boost::redis::request request;
    reply_builder builder;
    std::string failure;  // why there will be no reply; empty when there is one
    time_point answer_by{};
    time_point give_up_at{};

    // Lists it until it is answered, failed or cancelled.
    void join(list& all);
    // Completes when the reply is there, or `fail` was called; throws on cancellation.
    boost::asio::awaitable<void> sent(boost::redis::connection& on);
    void fail(const std::string& why);

private:
    struct start;
    void complete(boost::system::error_code ec, bool inside);

    boost::asio::any_completion_handler<void(boost::system::error_code)> done_;
    boost::asio::any_io_executor strand_;
    list* all_ = nullptr;
    list::iterator here_;
};

}  // namespace pawl::redis
