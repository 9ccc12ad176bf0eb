// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The queues of a client's waiters, one for each name. Only the first waiter sends a request.
#pragma once

#include "../util/wakeup.hpp"

#include <boost/intrusive/list.hpp>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pawl::core {

// Used on one strand, which belongs to the engine.
class waiting_room {
public:
    waiting_room(runtime& time, const boost::asio::any_io_executor& strand)
        : time_(time), strand_(strand) {}

    // A waiter in the queue. Its destructor lets the next one be first.
    class waiter : public boost::intrusive::list_base_hook<> {
    public:
        waiter(waiting_room& room, const std::string& name);
        ~waiter();
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;

        [[nodiscard]] bool is_first() const noexcept;
        // True when the waiter is the first one; false at `give_up_at`.
        boost::asio::awaitable<bool> wait_until_first(time_point give_up_at);

    private:
        waiting_room& room_;
        // a node of the map, which does not move
        std::pair<const std::string, boost::intrusive::list<waiter>>& queue_;
        std::unique_ptr<wakeup> wakeup_;
    };

    // True if a waiter for this name is in the queue or at the service.
    [[nodiscard]] bool has_waiters(const std::string& name) const { return queues_.contains(name); }

private:
    // By name. The first waiter of a queue waits at the service.
    using queues = std::unordered_map<std::string, boost::intrusive::list<waiter>>;

    queues::value_type& queue_of(const std::string& name);
    void remove_empty(const std::string& name) noexcept;

    runtime& time_;
    const boost::asio::any_io_executor& strand_;
    queues queues_;
    queues::node_type spare_;  // an earlier queue, for the next one
};

// The names for which requests wait at the service without a waiting room. Used on one strand.
class waiting_names {
public:
    // Counts the name until it is destroyed; an empty name counts nothing.
    class entry {
    public:
        entry(waiting_names& names, const std::string& name)
            : waiting_names_(names), position_(names.names_.end()) {
            if (!name.empty()) position_ = waiting_names_.names_.insert(name);
        }
        ~entry() {
            if (position_ != waiting_names_.names_.end()) waiting_names_.names_.erase(position_);
        }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

    private:
        waiting_names& waiting_names_;
        std::multiset<std::string>::iterator position_;
    };

    [[nodiscard]] bool contains(const std::string& name) const { return names_.contains(name); }

private:
    std::multiset<std::string> names_;
};

}  // namespace pawl::core
