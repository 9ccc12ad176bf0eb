// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_server.hpp"

#include <algorithm>

namespace pawl::simulation {

void lock_server::set_idle_limit(const server_session_ptr& session, duration limit) {
    session->idle_limit = limit;
    hear(session);
}

void lock_server::hear(const server_session_ptr& session) {
    session->heard_at = loop_.now();
    loop_.schedule_after(session->idle_limit, [this, session] {
        run_when_up([this, session] {
            const bool is_idle = session->heard_at + session->idle_limit <= loop_.now();
            if (is_idle && !session->is_waiting) end(session, loss_reason::expired);
        });
    });
}

bool lock_server::fits(const session_lock& lock, lock_mode mode) {
    return std::ranges::all_of(lock.holders, [mode](const auto& each) {
        return mode == lock_mode::shared && each.mode == lock_mode::shared;
    });
}

void lock_server::lock(const server_session_ptr& session, const std::string& key, lock_mode mode,
                       bool waits, const answer_handler& answer) {
    auto& wanted = locks_[key];
    if (!waits && (!wanted.queue.empty() || !fits(wanted, mode))) return answer({{"f"}});
    wanted.queue.push_back({session, mode, answer});
    session->is_waiting = true;
    serve(wanted);
}

void lock_server::serve(session_lock& lock) {
    while (!lock.queue.empty() && fits(lock, lock.queue.front().mode)) {
        auto granted = std::move(lock.queue.front());
        lock.queue.pop_front();
        granted.session->is_waiting = false;
        hear(granted.session);
        granted.answer({{"t"}});
        lock.holders.push_back(std::move(granted));
    }
}

bool lock_server::unlock(const server_session_ptr& session, const std::string& key) {
    hear(session);
    auto& held = locks_[key];
    if (bug_ == session_bug::unlocks_nothing) return true;
    const auto count = std::erase_if(held.holders, [&](const auto& each) {
        return each.session == session || bug_ == session_bug::unlocks_all;
    });
    serve(held);
    return count > 0;
}

bool lock_server::kill_holders(const std::string& key) {
    const auto ended = holders(key);
    for (const auto& each : ended)
        end(each, loss_reason::forced);
    return !ended.empty();
}

void lock_server::on_end(const server_session_ptr& session, loss_reason reason) {
    const auto is_of_it = [&](const auto& each) { return each.session == session; };
    for (auto& [key, lock] : locks_) {
        if (bug_ != session_bug::close_keeps_wait) std::erase_if(lock.queue, is_of_it);
        const bool is_kept = bug_ == session_bug::close_keeps_lock && reason == loss_reason::none;
        const auto count = is_kept ? 0 : std::erase_if(lock.holders, is_of_it);
        if (count > 0) on_end_of_lock_(session->process, key, reason);
        serve(lock);
    }
}

std::vector<server_session_ptr> lock_server::holders(const std::string& key) const {
    std::vector<server_session_ptr> sessions;
    if (const auto position = locks_.find(key); position != locks_.end())
        for (const auto& each : position->second.holders)
            sessions.push_back(each.session);
    return sessions;
}

bool lock_server::has_locks() const {
    return std::ranges::any_of(locks_, [](const auto& each) {
        return !each.second.holders.empty() || !each.second.queue.empty();
    });
}

}  // namespace pawl::simulation
