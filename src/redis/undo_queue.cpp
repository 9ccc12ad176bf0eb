#include "undo_queue.hpp"

#include "server_errors.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// So often is an undo repeated over another connection, at least, for what arrives after it.
constexpr unsigned confirmations = 3;

}  // namespace

// Whatever ends the coroutine, such as a lack of memory: the next undo begins it anew.
class undo_queue::running {
public:
    explicit running(std::shared_ptr<undo_queue> self) noexcept : self_(std::move(self)) {}
    ~running() { self_->running_ = false; }
    running(const running&) = delete;
    running& operator=(const running&) = delete;

private:
    const std::shared_ptr<undo_queue> self_;
};

// One that is under way. Whatever ends that, it is settled.
class undo_queue::sending {
public:
    sending(std::shared_ptr<undo_queue> self, position at) noexcept
        : self_(std::move(self)), at_(at) {}
    ~sending() {
        if (!self_) return;
        --self_->in_flight_;
        at_->in_flight_ = false;
        if (self_->stopped_)
            self_->entries_.erase(at_);
        else
            self_->failed(at_, self_->context_.time->now());
        self_->changed_.ring();
    }
    sending(const sending&) = delete;
    sending& operator=(const sending&) = delete;

    void ended(outcome how) {
        const auto self = std::exchange(self_, nullptr);
        --self->in_flight_;
        self->settle(at_, how);
        self->go_on();
    }

private:
    std::shared_ptr<undo_queue> self_;
    const position at_;
};

undo_queue::undo_queue(link& over, backend_context context, const limits& bounds)
    : link_(over),
      context_(std::move(context)),
      bounds_(bounds),
      pause_(*context_.time, bounds),
      changed_(*context_.time, context_.strand) {
    changed_.prepare();
}

undo_queue::prepared undo_queue::prepare(undo what) {
    prepared made;
    made.emplace_back(std::move(what));
    return made;
}

void undo_queue::add(prepared what) noexcept {
    if (stopped_ || made_in_.forked()) return;
    const auto now = context_.time->now();
    what.front().due_ = now;
    entries_.splice(entries_.end(), what);
    start_due(now);
    go_on();
}

void undo_queue::go_on() noexcept {
    if (running_) return changed_.ring();
    if (entries_.empty()) return;
    running_ = true;
    try {
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    } catch (...) {
        running_ = false;
    }
}

bool undo_queue::contains(std::string_view lock, std::string_view value) const {
    return std::ranges::any_of(entries_, [&](const entry& each) {
        return each.what.lock == lock && each.what.value == value;
    });
}

void undo_queue::try_now() {
    retry_at_ = context_.time->now();
    go_on();
}

bool undo_queue::full() const noexcept {
    if (entries_.size() < bounds_.undos) return false;
    const auto pending = std::ranges::count_if(
        entries_, [](const entry& each) { return each.confirmed_ < confirmations; });
    return static_cast<std::size_t>(pending) >= bounds_.undos;
}

void undo_queue::try_for_the_last_time() {
    closing_ = true;
    std::erase_if(entries_, [](const entry& each) {
        return !each.in_flight_ && each.confirmed_ >= confirmations;
    });
    try_now();
}

void undo_queue::stop() {
    stopped_ = true;
    std::erase_if(entries_, [](const entry& each) { return !each.in_flight_; });
    changed_.ring();
}

asio::awaitable<void> undo_queue::run(std::shared_ptr<undo_queue> self) {
    const running until_the_end(std::move(self));
    while (!entries_.empty()) {
        if (made_in_.forked() && !stopped_) stop();
        const auto now = context_.time->now();
        drop_expired(now);
        start_due(now);
        if (entries_.empty()) break;
        co_await changed_.wait_until(next_start());
    }
}

void undo_queue::say(const std::string& line) const noexcept {
    try {
        if (context_.log) context_.log(line);
    } catch (...) {}  // without memory it is not said
}

void undo_queue::drop_expired(time_point now) {
    for (auto at = entries_.begin(); at != entries_.end();) {
        if (at->in_flight_ || !is_over(*at, now)) {
            ++at;
            continue;
        }
        const bool confirmed = at->confirmed_ >= confirmations;
        const auto expired = std::move(at->what.lock);
        at = entries_.erase(at);
        if (confirmed) continue;
        say(expired +
            ": a request without an answer could not be undone; what it may have taken ends with "
            "its lease.");
    }
}

// A server that has said nothing since then may still carry out what is undone, however late, and
// give it a whole lease: as where it was stopped for longer than that.
bool undo_queue::is_over(const entry& one, time_point now) const noexcept {
    const bool repeated_in_vain = failing_ && one.confirmed_ >= confirmations;
    return (one.refused_ || repeated_in_vain) && one.what.lease_end <= now;
}

// However late the network delivers what is undone, it holds the lock for about as long again at
// the most: each pause is twice the one before.
bool undo_queue::is_confirmed(const entry& one, time_point now) const noexcept {
    if (link_.current().generation == one.what.generation) return true;
    if (one.confirmed_ < confirmations) return false;
    const bool no_room = entries_.size() > 2 * bounds_.undos;
    return closing_ || !one.what.value.empty() || no_room || one.what.lease_end <= now;
}

void undo_queue::start_due(time_point now) noexcept {
    if (failing_ && now < retry_at_) return;
    const auto most = failing_ ? 1 : bounds_.undos_at_once;
    for (auto at = entries_.begin(); at != entries_.end() && in_flight_ < most; ++at)
        if (!at->in_flight_ && at->due_ <= now && !is_over(*at, now)) start(at);
}

// Whatever is under way rings when it ends.
time_point undo_queue::next_start() const {
    const auto most = failing_ ? 1 : bounds_.undos_at_once;
    auto next = time_point::max();
    for (const auto& each : entries_) {
        if (each.in_flight_) continue;
        if (each.refused_ || (failing_ && each.confirmed_ >= confirmations))
            next = std::min(next, each.what.lease_end);
        if (in_flight_ < most) next = std::min(next, std::max(each.due_, retry_at_));
    }
    return next;
}

// One that cannot even begin counts as one without an answer.
void undo_queue::start(position at) noexcept {
    at->in_flight_ = true;
    ++in_flight_;
    try {
        asio::co_spawn(context_.strand, send(shared_from_this(), at), asio::detached);
    } catch (...) {
        at->in_flight_ = false;
        --in_flight_;
        failed(at, context_.time->now());
    }
}

asio::awaitable<void> undo_queue::send(std::shared_ptr<undo_queue> self, position at) {
    sending under_way(std::move(self), at);
    auto how = outcome::failed;
    try {
        how = co_await ask(at->what);
    } catch (const std::exception&) {}
    under_way.ended(how);
}

asio::awaitable<undo_queue::outcome> undo_queue::ask(const undo& what) {
    const std::array<std::string_view, 1> ping{"PING"};
    const auto until = std::max(what.lease_end, context_.time->now() + what.patience);
    while (!link_.connected())
        co_await link_.exec(ping, until);
    const auto answer = co_await what.request(until);
    if (answer.what != reply::kind::error) co_return outcome::confirmed;
    // A right may come back, but not while the client closes.
    const auto& words = answer.text;
    if (changed_nothing(words) || (may_be_said_later(words) && !closing_))
        co_return outcome::refused;
    if (context_.log)
        context_.log(explain(words, what.lock).what() +
                     std::string(" A request without an answer cannot be undone; what it may have "
                                 "taken ends with its lease."));
    co_return outcome::impossible;
}

void undo_queue::settle(position at, outcome how) {
    at->in_flight_ = false;
    const auto now = context_.time->now();
    at->refused_ |= how == outcome::refused;
    if ((how == outcome::failed || how == outcome::refused) && !stopped_) return failed(at, now);
    failing_ = false;
    retry_at_ = now;
    pause_.reset();
    ++at->confirmed_;
    if (stopped_ || how != outcome::confirmed || is_confirmed(*at, now)) {
        entries_.erase(at);
        return;
    }
    at->pause_ = at->confirmed_ < confirmations ? core::random_between(*context_.time, 100ms, 400ms)
                                                : 2 * at->pause_;
    at->due_ = std::max(now, std::min(now + at->pause_, at->what.lease_end));
}

// The next one to be tried is another one: what is refused may be this one only.
void undo_queue::failed(position at, time_point now) {
    entries_.splice(entries_.end(), entries_, at);
    if (failing_ && now < retry_at_) return;  // of those that were sent together only the first
    failing_ = true;
    retry_at_ = now + pause_.next();
}

}  // namespace pawl::redis
