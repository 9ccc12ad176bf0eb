// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the database keeps and what it loses, and its faults.
#include "sql_database.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {

// Behind a proxy, a place is alive until its lease ends.
bool sql_database::is_alive(const std::string& client) const {
    if (is_shared_) return true;
    return std::ranges::any_of(
        links_, [&](const auto& each) { return each->client == client && each->is_open; });
}

// What is flushed includes all commits before.
void sql_database::commit(bool is_flushed) {
    if (is_flushed)
        flushed_ = present_;
    else
        loop_.schedule_after(instant(random_.between(0, 600'000'000)), [this, boot = boots_] {
            if (boot == boots_ && is_up_) flushed_ = present_;
        });
    replicate_later();
}

void sql_database::replicate_later() {
    if (std::exchange(is_replicating_, true)) return;
    const auto longest = is_shared_ ? 6'000'000'000 : is_wild_ ? 2'000'000'000 : 5'000'000;
    loop_.schedule_after(instant(random_.between(0, longest)), [this, timeline = timeline_] {
        is_replicating_ = false;
        if (timeline == timeline_) standby_ = flushed_;
    });
}

void sql_database::end_at_database(const std::shared_ptr<sql_link>& link) {
    if (!std::exchange(link->is_open, false)) return;
    std::erase(links_, link);
    deliver(*link->process, loop_.now() + packet_delay(), [link] {
        link->process->post([link] {
            if (link->user != nullptr) link->user->end();
        });
    });
}

void sql_database::kill(const simulated_process& process) {
    for (const auto& each : std::vector(links_))
        if (each->process == &process) close(each);
}

bool sql_database::end_a_session() {
    if (links_.empty()) return false;
    const auto link = links_[random_.below(links_.size())];
    if (random_.happens(0.5)) {
        end_at_database(link);
    } else {
        // The client notices first: what it had sent may be carried out seconds later.
        link->sent_until =
            std::max(link->sent_until, loop_.now() + instant(random_.between(0, 3'000'000'000)));
        link->process->post([link] {
            if (link->user != nullptr) link->user->end();
        });
    }
    return true;
}

void sql_database::go_down(instant length) {
    boot_.reset();
    const bool keeps_connections = is_shared_ && random_.happens(0.5);
    for (const auto& each : std::vector(links_))
        if (!keeps_connections) end_at_database(each);
    if (keeps_connections) return;
    is_up_ = false;
    up_at_ = loop_.now() + length;
    loop_.schedule_at(up_at_, [this] { is_up_ = loop_.now() >= up_at_; });
}

void sql_database::restore(const sql_contents& kept) {
    present_ = kept;
    for (const auto& [name, lock] : present_.locks)
        for (const auto& each : lock.holders)
            restored_.insert(each.owner);
}

void sql_database::crash(instant length) {
    restore(flushed_);
    go_down(length);
}

void sql_database::fail_over(instant length) {
    restore(standby_);
    flushed_ = standby_;
    ++timeline_;
    // In some, by more than the pause after the failover: only the timeline keeps tokens in order.
    behind_ += instant(random_.between(0, random_.happens(0.2) ? 20'000'000'000 : 3'000'000'000));
    go_down(length);
}

bool sql_database::is_free(const std::string& name) {
    if (!is_up_ || is_pausing()) return false;
    return std::ranges::none_of(present_.locks[name].holders,
                                [&](const auto& each) { return each.expires > clock(); });
}

std::vector<live_hold> sql_database::live_holds(const std::string& name) {
    std::vector<live_hold> live;
    for (const auto& each : present_.locks[name].holders)
        if (each.expires > clock())
            live.push_back({each.owner, processes_[each.owner], each.mode, each.token.value(),
                            restored_.contains(each.owner)});
    return live;
}

}  // namespace pawl::simulation
