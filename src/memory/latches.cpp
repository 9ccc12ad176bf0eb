#include "latches.hpp"

#include "core/fork_mark.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::memory {
namespace {

// In line until it goes out of scope, however that comes about.
class place {
public:
    place(latch_book& where, const std::string& name, const std::shared_ptr<session>& by)
        : where_(where), name_(name), mine_(std::make_shared<latch_book::waiter>(by)) {
        where_.join(name_, mine_);
    }
    ~place() { where_.leave(name_, mine_); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    const std::shared_ptr<latch_book::waiter>& operator*() const noexcept { return mine_; }

private:
    latch_book& where_;
    const std::string& name_;
    std::shared_ptr<latch_book::waiter> mine_;
};

}  // namespace

latch_book::entry* latch_book::find(const std::string& name, time_point now) {
    const auto at = entries_.find(name);
    if (at == entries_.end()) return nullptr;
    if (at->second.expires > now) return &at->second;
    entries_.erase(at);
    return nullptr;
}

void latch_book::begin(entry& one, std::uint32_t count, std::uint32_t parties) {
    one.known = true;
    one.count = count;
    one.generation = ++last_generation_;
    if (one.first == 0) one.first = one.generation;
    one.parties = parties;
}

latches::step latch_book::step_down(const std::string& name, entry& one, std::uint64_t steps,
                                    time_point now) {
    one.expires = now + one.ttl;
    if (one.count == 0) return {one.generation, 0};
    one.count -= std::min(one.count, steps);
    const latches::step taken{one.generation, one.count};
    if (one.count == 0) {
        if (one.parties != 0) begin(one, one.parties, one.parties);
        ring(name);
    }
    return taken;
}

// The alarms belong to the waiters' strands, and we may be on another.
void latch_book::ring(const std::string& name) {
    const auto line = lines_.find(name);
    if (line == lines_.end()) return;
    for (const auto& one : line->second) {
        asio::post(one->by->strand, [weak = std::weak_ptr(one)] {
            if (const auto alive = weak.lock()) alive->alarm.ring();
        });
    }
}

bool latch_book::try_set(const std::string& name, std::uint32_t count, duration ttl,
                         time_point now) {
    const std::lock_guard lock(mutex_);
    const auto* present = find(name, now);
    if (present != nullptr && present->count > 0) return false;
    auto& one = entries_[name];
    begin(one, count, 0);
    one.ttl = ttl;
    one.expires = now + ttl;
    return true;
}

latches::step latch_book::count_down(const std::string& name, std::uint32_t steps, time_point now) {
    const std::lock_guard lock(mutex_);
    auto* one = find(name, now);
    if (one == nullptr) throw core::unknown_latch(name);
    return step_down(name, *one, steps, now);
}

latches::step latch_book::arrive(const std::string& name, std::uint32_t parties, duration ttl,
                                 time_point now) {
    const std::lock_guard lock(mutex_);
    const auto* present = find(name, now);
    const bool counting = present != nullptr && present->count > 0;
    if (counting && present->parties != parties)
        throw core::other_parties(name, present->parties, parties);
    auto& one = entries_[name];
    if (!counting) begin(one, parties, parties);
    one.ttl = ttl;
    return step_down(name, one, 1, now);
}

void latch_book::join(const std::string& name, const std::shared_ptr<waiter>& one) {
    const std::lock_guard lock(mutex_);
    lines_[name].push_back(one);
}

void latch_book::leave(const std::string& name, const std::shared_ptr<waiter>& one) {
    const std::lock_guard lock(mutex_);
    const auto line = lines_.find(name);
    line->second.remove(one);
    if (line->second.empty()) lines_.erase(line);
}

core::latch_standing latch_book::look(const std::string& name, time_point now) {
    const std::lock_guard lock(mutex_);
    const core::latch_standing* const one = find(name, now);
    return one == nullptr ? core::latch_standing{} : *one;
}

latch_info latch_book::inspect(const std::string& name, time_point now) {
    const std::lock_guard lock(mutex_);
    latch_info found;
    found.name = name;
    if (const auto line = lines_.find(name); line != lines_.end())
        found.waiters = line->second.size();
    const auto* one = find(name, now);
    if (one == nullptr) return found;
    found.known = true;
    found.count = one->count;
    found.generation = one->generation;
    found.parties = one->parties;
    found.remaining = one->expires - now;
    return found;
}

bool latch_book::reset(const std::string& name, time_point now) {
    const std::lock_guard lock(mutex_);
    if (find(name, now) == nullptr) return false;
    entries_.erase(name);
    ring(name);
    return true;
}

memory_latches::memory_latches(std::shared_ptr<latch_book> book, std::shared_ptr<session> me)
    : book_(std::move(book)), me_(std::move(me)), born_in_(core::fork_generation()) {}

time_point memory_latches::begin_request() const {
    if (core::fork_generation() != born_in_)
        throw error(errc::unsupported,
                    "This process is a fork, and the latches in memory belong to its parent; make "
                    "a new client here.");
    ++me_->count->requests;
    return me_->time->now();
}

asio::awaitable<bool> memory_latches::try_set(std::string_view name, std::uint32_t count,
                                              duration ttl) {
    const auto now = begin_request();
    co_return book_->try_set(std::string(name), count, ttl, now);
}

asio::awaitable<latches::step> memory_latches::count_down(std::string_view name,
                                                          std::uint32_t steps) {
    const auto now = begin_request();
    co_return book_->count_down(std::string(name), steps, now);
}

asio::awaitable<latches::step> memory_latches::arrive(std::string_view name, std::uint32_t parties,
                                                      duration ttl) {
    const auto now = begin_request();
    co_return book_->arrive(std::string(name), parties, ttl, now);
}

asio::awaitable<bool> memory_latches::wait(std::string_view name, std::uint64_t generation,
                                           time_point give_up_at) {
    auto now = begin_request();
    const auto book = book_;
    const auto me = me_;
    const std::string where(name);
    const place mine(*book, where, me);
    for (;;) {
        const auto found = book->look(where, now);
        const bool over = core::is_over(found, where, generation);
        if (over) co_return true;
        if (now >= give_up_at) co_return false;
        const auto until = std::min(give_up_at, found.expires);
        const bool rung = co_await (*mine)->alarm.wait_until(until);
        ++(rung ? me->count->pushes : me->count->requests);
        now = me->time->now();
    }
}

asio::awaitable<latch_info> memory_latches::inspect(std::string_view name) {
    const auto now = begin_request();
    co_return book_->inspect(std::string(name), now);
}

asio::awaitable<bool> memory_latches::reset(std::string_view name) {
    const auto now = begin_request();
    co_return book_->reset(std::string(name), now);
}

}  // namespace pawl::memory
