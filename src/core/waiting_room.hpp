// Waiters of one client for one name stand in line here; only the first goes to the service.
#pragma once

#include "alarm.hpp"

#include <list>
#include <set>
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

    // Somebody is in line behind the first, or the first is at the service.
    [[nodiscard]] bool is_waited_for(const std::string& name) const {
        return lines_.contains(name);
    }

private:
    runtime& time_;
    boost::asio::any_io_executor strand_;
    std::unordered_map<std::string, line> lines_;
};

// Names that are waited for at the service, past any waiting room. Used on one strand.
class waiting_names {
public:
    // Until it goes out of scope; an empty name counts for nothing.
    class entry {
    public:
        entry(waiting_names& all, const std::string& name) : all_(all), at_(all.names_.end()) {
            if (!name.empty()) at_ = all_.names_.insert(name);
        }
        ~entry() {
            if (at_ != all_.names_.end()) all_.names_.erase(at_);
        }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

    private:
        waiting_names& all_;
        std::multiset<std::string>::iterator at_;
    };

    [[nodiscard]] bool contains(const std::string& name) const { return names_.contains(name); }

private:
    std::multiset<std::string> names_;
};

}  // namespace pawl::core
