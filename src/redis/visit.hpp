#pragma once

#include "locks.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace pawl::redis {

// One owner's stay at the server. Whatever ends it without a grant, the server is told to forget
// it.
class locks::visit {
public:
    visit(locks& home, const claim& what, unsigned attempt)
        : home_(home), here(home.time(), home.context_.strand) {
        // A fresh owner for every send: a request that was lost may still be carried out.
        static constexpr char digits[] = "0123456789abcdef";
        here.owner = what.owner;
        here.owner[here.owner.size() - 2] = digits[attempt / 16 % 16];
        here.owner[here.owner.size() - 1] = digits[attempt % 16];
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
        here.window = std::min<duration>(claim_window, what.ttl);
        here.inherits = what.mode == lock_mode::exclusive && !what.fair;
        if (what.mode == lock_mode::shared) here.want = "s";
        if (what.mode == lock_mode::permits) here.want = "p" + std::to_string(what.permits);
        here.of = std::to_string(what.of);
    }
    ~visit() {
        if (listed_) home_.waiters_.remove(here);
        if (!asked_ || (settled && !stands_again)) return;
        boost::asio::co_spawn(
            home_.context_.strand,
            home_.leave(std::move(here.where), std::move(here.member), std::move(here.prefix),
                        std::move(kept), here.ttl, generation_),
            boost::asio::detached);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    void about_to_send() noexcept {
        asked_ = true;
        generation_ = home_.link_->current().generation;
    }
    void list() {
        home_.waiters_.add(here);
        listed_ = true;
    }

private:
    locks& home_;
    bool listed_ = false;
    bool asked_ = false;
    std::uint64_t generation_ = 0;

public:
    waiter here;
    bool settled = false;  // granted, or the server said that we hold and wait for nothing
    // What was under way when the grant came found the lock not ours: we may have a place in line
    // again, or even the lock a second time, beside what we hold.
    bool stands_again = false;
    bool looked = false;
    std::string kept;  // the value that we hold
};

}  // namespace pawl::redis
