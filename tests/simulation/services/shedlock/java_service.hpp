// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A Java service with one thread and ShedLock's JDBC provider, with `usingDbTime`.
#pragma once

#include "../../kernel/trace.hpp"
#include "../../kernel/virtual_runtime.hpp"
#include "../../world/beliefs.hpp"
#include "shedlock_server.hpp"

#include <set>
#include <string>

namespace pawl::simulation {

class java_service {
public:
    java_service(shedlock_server& server, beliefs& holds, trace& events, prng random,
                 std::string label)
        : process(server.loop(), time_point(std::chrono::hours(1)), 1.0),
          server_(server),
          holds_(holds),
          events_(events),
          random_(random),
          time_(process, random_.fork()),
          host_(std::move(label)) {}

    // Until `stop`, it locks one of the names again and again.
    void start(const std::vector<std::string>& names);
    void stop() noexcept { is_stopping_ = true; }

    simulated_process process;

private:
    using rows = std::vector<sql::row>;

    boost::asio::awaitable<void> run(std::vector<std::string> names);
    boost::asio::awaitable<void> use(std::string name);
    boost::asio::awaitable<bool> lock(std::string name, duration at_most);
    boost::asio::awaitable<rows> ask(std::string_view function, std::string name, duration span);
    // The hold lasts until then at most.
    void end_later(believed_hold& hold);
    [[nodiscard]] duration random_span(duration low, duration high) {
        return duration(random_.between(low.count(), high.count()));
    }

    shedlock_server& server_;
    beliefs& holds_;
    trace& events_;
    prng random_;
    virtual_runtime time_;
    std::string host_;
    std::set<std::string> known_;  // locks with a row, as in LockRecordRegistry
    std::shared_ptr<client_connection> link_;
    instant ends_at_{};
    int failures_ = 0;
    bool is_stopping_ = false;
};

}  // namespace pawl::simulation
