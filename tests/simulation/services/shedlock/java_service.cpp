// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_service.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {

void java_service::start(const std::vector<std::string>& names) {
    asio::co_spawn(asio::any_io_executor(process.get_executor()), run(names), asio::detached);
}

// A statement without an answer may be carried out later. ShedLock compares only the host, so a
// late unlock could end the next hold of the same host: it goes on as another one.
asio::awaitable<void> java_service::run(std::vector<std::string> names) {
    core::wakeup pause(time_, process.get_executor());
    while (!is_stopping_) {
        co_await pause.wait_until(time_.now() + random_span(50ms, 3s));
        try {
            co_await use(names[random_.below(names.size())]);
        } catch (const error&) {
            link_.reset();
            host_ = host_.substr(0, host_.find('-')) + '-' + std::to_string(++failures_);
        }
    }
}

asio::awaitable<void> java_service::use(std::string name) {
    if (!link_ || link_->is_over()) {
        link_ = std::make_shared<client_connection>(server_, time_, process.get_executor());
        std::function<void(loss_reason)> ignore = [](loss_reason) {};
        co_await link_->open(process, std::move(ignore), time_.now() + 2s);
    }
    const auto lock_at_most = random_span(500ms, 8s);
    const duration lock_at_least = random_.happens(0.3) ? 400ms : 0ms;
    const auto requested_at = server_.loop().now();
    const bool is_taken = co_await lock(name, lock_at_most);
    if (!is_taken) co_return;
    ends_at_ = requested_at + lock_at_most;
    auto& hold = holds_.add({.name = name,
                             .requested_at = requested_at,
                             .granted_at = server_.loop().now(),
                             .program = this,
                             .label = host_});
    events_.write(host_ + " has " + name);
    end_later(hold);
    struct end_at_exit {
        beliefs& holds;
        believed_hold& hold;
        ~end_at_exit() { holds.end(hold); }
    };
    {
        const end_at_exit guard{holds_, hold};
        core::wakeup work(time_, process.get_executor());
        co_await work.wait_until(time_.now() + random_span(10ms, 2s));
        if (random_.happens(0.3)) {  // LockExtender
            const auto asked_at = server_.loop().now();
            const auto extended = co_await ask("java_extend", name, lock_at_most);
            if (!extended.empty()) ends_at_ = asked_at + lock_at_most;
            co_await work.wait_until(time_.now() + random_span(10ms, 1s));
        }
    }
    events_.write(host_ + " unlocks " + name);
    co_await ask("java_unlock", name, lock_at_least);
}

// As StorageBasedLockProvider.
asio::awaitable<bool> java_service::lock(std::string name, duration at_most) {
    if (known_.insert(name).second) {
        const auto inserted = co_await ask("java_insert", name, at_most);
        if (!inserted.empty()) co_return true;
    }
    const auto updated = co_await ask("java_update", name, at_most);
    co_return !updated.empty();
}

asio::awaitable<std::vector<sql::row>> java_service::ask(std::string_view function,
                                                         std::string name, duration span) {
    const auto link = link_;
    sql::call request{function, {name, host_, std::int64_t{span / 1ms}}};
    auto statement = server_.statement(std::move(request));
    co_return co_await link->ask(std::move(statement), time_.now() + 5s, 5s);
}

void java_service::end_later(believed_hold& hold) {
    server_.loop().schedule_at(ends_at_, [this, &hold] {
        if (hold.ended_at) return;
        if (ends_at_ > server_.loop().now()) return end_later(hold);
        holds_.end(hold);
    });
}

}  // namespace pawl::simulation
