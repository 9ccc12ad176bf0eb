// Waiters of one client for one name stand in line here; only the first goes to the service.
#pragma once

#include "alarm.hpp"

#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pawl::core {

// Used on one strand.
class waiting_room {
    struct line {
        std::list<alarm*> waiters;  // the front one is at the service
    };

public:
    waiting_room(runtime& time, boost::asio::any_io_executor strand)
        : time_(time), strand_(std::move(strand)) {}

    // A place in line; leaving it lets the next one go first.
    class place {
    public:
        place(waiting_room& room, const std::string& name);
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        [[nodiscard]] bool is_first() const noexcept;
        // True when this is the first in line; false at `give_up_at`.
        boost::asio::awaitable<bool> until_first(time_point give_up_at);

    private:
        waiting_room& room_;
        std::pair<const std::string, line>& line_;  // map nodes stay where they are
        std::unique_ptr<alarm> alarm_;
        std::list<alarm*>::iterator here_;
    };

private:
    runtime& time_;
    boost::asio::any_io_executor strand_;
    std::unordered_map<std::string, line> lines_;
};

}  // namespace pawl::core
