// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "naive_counters.hpp"

#include <support/resp.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <stdexcept>
#include <stop_token>

namespace real {

using namespace std::chrono_literals;

// One token.
struct naive_counters::round {
    std::string key;
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t answers = 0;
    std::uint64_t largest = 0;
    bool is_over = false;
};

// A thread for each server: one that is stopped delays nobody.
class naive_counters::server {
public:
    explicit server(std::string socket)
        : socket_(std::move(socket)),
          thread_([this](const std::stop_token& stop) { count_all(stop); }) {}

    void add(std::shared_ptr<round> next) {
        {
            const std::scoped_lock guard(mutex_);
            waiting_.push_back(std::move(next));
        }
        added_.notify_one();
    }

private:
    void count_all(const std::stop_token& stop) {
        for (;;) {
            std::shared_ptr<round> next;
            {
                std::unique_lock guard(mutex_);
                if (!added_.wait(guard, stop, [this] { return !waiting_.empty(); })) return;
                next = std::move(waiting_.front());
                waiting_.pop_front();
            }
            count(*next);
        }
    }

    void count(round& current) {
        {
            const std::scoped_lock guard(current.mutex);
            if (current.is_over) return;
        }
        try {
            if (!connection_)
                connection_ = std::make_unique<support::resp_client>(
                    support::endpoint{.port = 0, .unix_socket = socket_}, 500ms);
            const auto reply = connection_->execute({"INCR", current.key});
            if (reply.is_error()) return;
            const std::scoped_lock guard(current.mutex);
            ++current.answers;
            current.largest = std::max(current.largest, static_cast<std::uint64_t>(reply.number()));
        } catch (const std::runtime_error&) {
            connection_.reset();  // the server is away
        }
        current.changed.notify_one();
    }

    const std::string socket_;
    std::unique_ptr<support::resp_client> connection_;
    std::mutex mutex_;
    std::condition_variable_any added_;
    std::deque<std::shared_ptr<round>> waiting_;
    std::jthread thread_;
};

naive_counters::naive_counters(const std::vector<std::string>& sockets) {
    for (const auto& each : sockets)
        servers_.push_back(std::make_unique<server>(each));
}

naive_counters::~naive_counters() = default;

std::optional<std::uint64_t> naive_counters::next(const std::string& lock) {
    const auto current = std::make_shared<round>();
    current->key = "naive:" + lock;
    for (const auto& each : servers_)
        each->add(current);
    std::unique_lock guard(current->mutex);
    const bool has_majority = current->changed.wait_for(
        guard, 500ms, [&] { return current->answers > servers_.size() / 2; });
    current->is_over = true;
    if (!has_majority) return std::nullopt;
    return current->largest;
}

}  // namespace real
