#pragma once

#include "locks.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace pawl::redis {

// One owner's stay at the server. Whatever ends it without a grant, the server is told to forget
// it; that needs no memory.
class locks::visit {
public:
    // `owner` is random, and of no other request: one that was lost may still be carried out, and
    // is undone by it.
    visit(locks& home, const claim& what, std::string owner)
        : home_(home), here(home.time(), home.context_.strand) {
        here.owner = std::move(owner);
        here.name = what.name;
        here.member.reserve(home.client_.size() + 1 + here.owner.size());
        here.member += home.client_;
        here.member += ':';
        here.member += here.owner;
        here.prefix.reserve(here.owner.size() + home.value_end_.size());
        here.prefix += here.owner;
        here.prefix += home.value_end_;
        here.where = home.scheme_.of(what.name);
        here.ttl = what.ttl;
        here.window = std::min<duration>(home.bounds_.claim_window, what.ttl);
        here.inherits = what.mode == lock_mode::exclusive && !what.fair;
        if (what.mode == lock_mode::shared) here.want = "s";
        if (what.mode == lock_mode::permits) here.want = "p" + std::to_string(what.permits);
        here.of = std::to_string(what.of);
    }
    ~visit() {
        if (listed_) home_.waiters_.remove(here);
        if (!asked_ || (settled && !stands_again)) return;
        home_.leave_later(std::move(leave_),
                          {std::move(here.where), std::move(here.member), std::move(here.prefix),
                           std::move(kept)},
                          here.ttl, generation_);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    void about_to_send() {
        leave_ = home_.prepare_leave(here.where.lock);
        asked_ = true;
        generation_ = home_.link_->current().generation;
    }
    void list() {
        listed_ = true;  // what memory lets be listed by half, goes too
        home_.waiters_.add(here);
    }

private:
    locks& home_;
    bool listed_ = false;
    bool asked_ = false;
    prepared_leave leave_;
    std::uint64_t generation_ = 0;

public:
    waiter here;
    // Granted, or the server said that we hold and wait for nothing, or that it changed nothing.
    bool settled = false;
    bool answered = false;
    // What was under way when the grant came found the lock not ours: we may have a place in line
    // again, or even the lock a second time, beside what we hold.
    bool stands_again = false;
    bool looked = false;
    std::string kept;  // the value that we hold
};

}  // namespace pawl::redis
