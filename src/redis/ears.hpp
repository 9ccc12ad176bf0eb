// Who of this client listens to which channel beside the client's own.
#pragma once

#include "../core/alarm.hpp"
#include "link.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// A latch's waiter looks this often: the last resort where a message was lost, and how a dead
// connection is noticed.
inline constexpr duration latch_look_at_least = std::chrono::seconds(4);
inline constexpr duration latch_look_at_most = std::chrono::seconds(6);

// Used on one strand.
class ears {
public:
    // `most_messages` as limits::messages.
    ears(link& over, runtime& time, boost::asio::any_io_executor strand, std::size_t most_messages)
        : link_(over), time_(time), strand_(std::move(strand)), most_messages_(most_messages) {}

    // Rings every ear of the channel, and gives it the message.
    void on_message(std::string_view channel, std::string_view payload);
    // What was published meanwhile is gone: every ear is rung, with an empty message.
    void on_connected();

    // The command that reaches them; a cluster has one of its own. First there must be a
    // connection.
    boost::asio::awaitable<std::string_view> publish(time_point give_up_at);
    // The answer to how many listen to that channel.
    boost::asio::awaitable<reply> count(std::string_view channel, time_point give_up_at);

    class ear {
    public:
        ear(ears& home, std::string channel);
        ~ear();
        ear(const ear&) = delete;
        ear& operator=(const ear&) = delete;

        // From its answer on, no message is missed while the connection lives.
        boost::asio::awaitable<void> listen(time_point give_up_at);
        [[nodiscard]] bool listens() const noexcept { return listens_; }

        core::alarm woken;
        std::vector<std::string> messages;

    private:
        ears& home_;
        std::multimap<std::string, ear*, std::less<>>::iterator here_;
        bool listens_ = false;
    };

private:
    link& link_;
    runtime& time_;
    const boost::asio::any_io_executor strand_;
    const std::size_t most_messages_;
    std::multimap<std::string, ear*, std::less<>> all_;
};

}  // namespace pawl::redis
