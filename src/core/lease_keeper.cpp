#include "lease_keeper.hpp"

#include "guard.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

time_point notice_at(const lease& one) { return one.deadline() - notice(one.what().claim.ttl); }

// Of a claim window there may be less left than a twentieth of the ttl: a quarter of that, not less
// than 50 ms, leaves time for more than one repetition.
duration retry_pause(const lease& one, time_point now) {
    auto pause = one.what().claim.ttl / 20;
    if (one.what().grant.confirm)
        pause = std::min<duration>(
            pause, std::max<duration>((one.deadline() - now) / 4, std::chrono::milliseconds(50)));
    return std::max<duration>(pause, std::chrono::milliseconds(5));
}

// In a fork nothing is.
bool is_kept(const lease& one) { return one.plan.kept && !one.forked(); }

void fill_in(std::span<renewal> lines, std::span<const std::shared_ptr<lease>> batch,
             time_point now) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto& one = *batch[i];
        const auto ttl = one.what().claim.ttl;
        const auto left = std::max<duration>(one.max_until() - now, std::chrono::milliseconds(1));
        lines[i].what = &one.what();
        lines[i].ttl = left < ttl ? std::min(ttl, left + drift(ttl)) : ttl;
    }
}

}  // namespace

error ended(const lease& one) {
    return {errc::lost, "The lock '" + one.what().claim.name +
                            "' is not held any more, lost or given back; ask for it again."};
}

lease_keeper::lease_keeper(runtime& time, asio::any_io_executor strand, backend& service,
                           counter& renewals, hooks told)
    : time_(time),
      strand_(std::move(strand)),
      service_(service),
      renewals_(renewals),
      told_(std::move(told)),
      alarm_(time, strand_) {}

lease_keeper::place::place(lease_keeper& keeper, std::shared_ptr<lease> wanted)
    : keeper_(keeper), lease_(std::move(wanted)) {
    keeper_.reserve(lease_);
}

lease_keeper::place::~place() {
    if (lease_) keeper_.forget(lease_);
}

taken lease_keeper::place::keep(std::string owner, grant given) noexcept {
    keeper_.begin(*lease_, std::move(owner), std::move(given));
    keeper_.keep(lease_);
    return taken(std::exchange(lease_, nullptr));
}

void lease_keeper::reserve(const std::shared_ptr<lease>& one) {
    const auto entry = by_owner_.emplace(one->what().claim.owner, one).first;
    try {
        one->plan.next = time_point::max();
        one->plan.number = ++reserved_;
        order_.insert(one.get());
    } catch (...) {
        by_owner_.erase(entry);
        throw;
    }
}

// The entry has room for another owner: it is moved, not made.
void lease_keeper::begin(lease& one, std::string owner, grant given) noexcept {
    auto entry = by_owner_.extract(one.what().claim.owner);
    one.begin(std::move(owner), std::move(given));
    entry.key() = one.what().claim.owner;
    by_owner_.insert(std::move(entry));
}

void lease_keeper::keep(const std::shared_ptr<lease>& one) noexcept {
    one->plan.kept = true;
    if (!one->what().grant.confirm) {
        schedule(*one);
    } else {
        // The deadline is a claim window, not a lease: its thirds say nothing. The caller runs
        // first, and one that gives the lock back at once saves the request.
        const auto now = time_.now();
        const auto window = one->deadline() - now;
        one->plan.renew_at = now + window / 8;
        one->plan.risk_at = now + window / 2;
        one->plan.not_before = true;
        plan(*one);
    }
    if (time_.passes_by_itself()) guard::instance().watch(*one);
}

void lease_keeper::forget(const std::shared_ptr<lease>& one) noexcept {
    order_.erase(one.get());
    by_owner_.erase(one->what().claim.owner);
}

bool lease_keeper::drop(const std::shared_ptr<lease>& one) {
    if (!std::exchange(one->plan.kept, false)) return false;
    if (time_.passes_by_itself() && !one->forked()) guard::instance().forget(*one);
    one->tell_answered();
    forget(one);
    return true;
}

std::shared_ptr<lease> lease_keeper::first() const noexcept {
    for (auto* const one : order_)
        if (one->plan.kept) return one->shared_from_this();
    return nullptr;
}

void lease_keeper::push_loss(std::string_view owner, loss_reason why) {
    const auto found = by_owner_.find(owner);
    if (found == by_owner_.end()) return;
    const auto one = found->second;
    lose(one, why);
}

// The thirds count from the moment that the present deadline was counted from.
void lease_keeper::schedule(lease& one) noexcept {
    const auto ttl = one.what().claim.ttl;
    const auto begin = one.deadline() + drift(ttl) - ttl;
    const bool last = one.ended_by_max_hold();
    one.plan.not_before = false;
    one.plan.renew_at = last ? time_point::max() : begin + ttl / 3;
    one.plan.risk_at = last ? time_point::max() : begin + ttl * 2 / 3;
    plan(one);
}

void lease_keeper::plan(lease& one) noexcept {
    const auto renew_at = one.plan.in_flight ? time_point::max() : one.plan.renew_at;
    auto entry = order_.extract(&one);
    one.plan.next = std::min({renew_at, one.plan.risk_at, notice_at(one)});
    order_.insert(std::move(entry));
    if (one.plan.next < armed()) {
        arm(one.plan.next);
        alarm_.ring();
    }
}

void lease_keeper::lose(const std::shared_ptr<lease>& one, loss_reason why) {
    if (!drop(one)) return;
    one->lose(why);
    // The guard, or a caller who asked too late, may have been first to say so.
    if (one->state() == lock_state::lost) told_.on_loss(one);
}

asio::awaitable<void> lease_keeper::run(std::shared_ptr<void> self) {
    while (!stopped_) {
        bool short_of_memory = false;
        try {
            look(time_.now());
        } catch (const std::bad_alloc&) {
            short_of_memory = true;
        }
        auto next = order_.empty() ? time_point::max() : (*order_.begin())->plan.next;
        if (short_of_memory) next = std::max(next, time_.now() + std::chrono::milliseconds(5));
        arm(next);
        co_await alarm_.wait_until(next);
    }
    self.reset();
}

void lease_keeper::stop() {
    stopped_ = true;
    alarm_.ring();
}

void lease_keeper::look(time_point now) {
    std::vector<std::shared_ptr<lease>> due;
    arm(time_point::min());  // nothing is planned anew before the loop has gone round
    try {
        while (!order_.empty() && look_at(**order_.begin(), now, due)) {}
    } catch (const std::bad_alloc&) {
        send(due);
        throw;
    }
    send(due);
}

// False: nothing is due any more.
bool lease_keeper::look_at(lease& one, time_point now, std::vector<std::shared_ptr<lease>>& due) {
    // Leases that are nearly due go along: many locks then need few requests. Not those whose
    // moment was chosen: a service that fails at once would be asked without a pause.
    if (one.plan.kept && one.forked()) {
        lose(one.shared_from_this(), loss_reason::forked);
        return true;
    }
    const bool renewing = !one.plan.in_flight && one.plan.next == one.plan.renew_at;
    const bool early = renewing && !one.plan.not_before;
    if (!one.plan.kept || one.plan.next > now + (early ? one.what().claim.ttl / 6 : duration{}))
        return false;
    const auto held = one.shared_from_this();
    if (now >= notice_at(one)) {
        lose(held, one.ended_by_max_hold() ? loss_reason::max_hold : loss_reason::expired);
        return true;
    }
    if (one.is_orphaned()) {
        told_.on_orphan(held);
        return true;
    }
    if (now >= one.plan.risk_at) {
        one.mark_at_risk();
        one.plan.risk_at = time_point::max();
    }
    if (renewing && !begin_renewal(held, due)) {
        postpone(one);
        return true;
    }
    plan(one);
    return true;
}

// False: there is no memory for it. The others must be looked at all the same.
bool lease_keeper::begin_renewal(const std::shared_ptr<lease>& one,
                                 std::vector<std::shared_ptr<lease>>& due) {
    try {
        told_.on_renewal(one);
        due.push_back(one);
    } catch (const std::bad_alloc&) {
        return false;
    }
    one->plan.in_flight = true;
    return true;
}

void lease_keeper::postpone(lease& one) noexcept {
    one.plan.not_before = true;
    const auto now = time_.now();
    one.plan.renew_at = now + retry_pause(one, now);
    plan(one);
}

// Renewals that cannot even begin count as unanswered.
void lease_keeper::send(std::span<const std::shared_ptr<lease>> due) {
    const auto most = std::max<std::size_t>(service_.renewals_at_once(), 1);
    while (!due.empty()) {
        const auto share = due.first(std::min(due.size(), most));
        due = due.subspan(share.size());
        try {
            std::vector<std::shared_ptr<lease>> batch(share.begin(), share.end());
            asio::co_spawn(strand_, renew(std::move(batch)), asio::detached);
        } catch (const std::bad_alloc&) {
            for (const auto& one : share)
                settle(one, {});
        }
    }
}

// Whatever ends the question, also where Asio destroys its coroutine for want of memory, no lease
// is left waiting for its answer: it would never be renewed again. The leases keep their engine
// alive, and that the keeper.
class lease_keeper::asking {
public:
    asking(lease_keeper& home, std::vector<std::shared_ptr<lease>> which) noexcept
        : batch(std::move(which)), home_(home) {}
    ~asking() {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            try {
                home_.settle(batch[i], lines.empty() ? renewal{} : lines[i]);
            } catch (...) {
                if (batch[i]->plan.kept) home_.plan(*batch[i]);
            }
        }
    }
    asking(const asking&) = delete;
    asking& operator=(const asking&) = delete;

    const std::vector<std::shared_ptr<lease>> batch;
    std::vector<renewal> lines;  // empty: not answered

private:
    lease_keeper& home_;
};

asio::awaitable<void> lease_keeper::renew(std::vector<std::shared_ptr<lease>> which) {
    asking question(*this, std::move(which));
    auto& lines = question.lines;
    try {
        lines.resize(question.batch.size());
        fill_in(lines, question.batch, time_.now());
        co_await service_.renew(lines);
        ++renewals_;
    } catch (...) {
        lines.clear();
    }
}

namespace {

// Until it is answered the hold is one or the other at the service: then it is asked again, also
// where the hold was given back meanwhile. That was by its old proof, which frees nothing where the
// downgrade was carried out and its answer was lost.
asio::awaitable<std::optional<grant>> ask_downgrade(backend& service, runtime& time,
                                                    asio::any_io_executor strand,
                                                    std::shared_ptr<lease> one) {
    for (;;) {
        try {
            co_return co_await service.downgrade(one->what());
        } catch (const error& e) {
            const bool passing = e.reason() == errc::unreachable || e.reason() == errc::unavailable;
            const bool over = !is_kept(*one) && (!passing || time.now() >= one->deadline());
            if (one->forked() || over) throw ended(*one);
            if (!passing) throw;
        }
        alarm pause(time, strand);
        const auto now = time.now();
        co_await pause.wait_until(now + retry_pause(*one, now));
    }
}

}  // namespace

// One question about a hold at a time: the answer to an earlier one would speak of what is no more.
asio::awaitable<void> lease_keeper::until_quiet(std::shared_ptr<lease> one) {
    while (one->plan.kept && one->plan.in_flight) {
        const auto answered = std::make_shared<alarm>(time_, strand_);
        one->question_waiters.push_back(answered);
        co_await answered->wait_until(time_point::max());
    }
    if (!is_kept(*one)) throw ended(*one);
}

asio::awaitable<void> lease_keeper::renew_now(std::shared_ptr<lease> one) {
    for (;;) {
        co_await until_quiet(one);
        // Made first: without memory for the question there is none in flight.
        std::vector<std::shared_ptr<lease>> batch{one};
        auto question = renew(std::move(batch));
        one->plan.in_flight = true;
        plan(*one);
        co_await std::move(question);
        if (!is_kept(*one)) throw ended(*one);
        if (!one->plan.not_before) co_return;  // it was answered
        alarm pause(time_, strand_);
        co_await pause.wait_until(one->plan.renew_at);
    }
}

asio::awaitable<void> lease_keeper::downgrade(std::shared_ptr<lease> one) {
    co_await until_quiet(one);
    bool kept = false;
    bool given = false;
    {
        std::vector<std::shared_ptr<lease>> batch{one};
        asking question(*this, std::move(batch));
        question.lines.resize(1);
        one->plan.in_flight = true;
        plan(*one);
        auto granted = co_await ask_downgrade(service_, time_, strand_, one);
        given = granted.has_value();
        auto& answer = question.lines.front();
        answer.what = &one->what();
        answer.result = given ? renewal::outcome::extended : renewal::outcome::refused;
        if (given) answer.deadline = granted->deadline;
        if (given) one->become_shared(std::move(granted->proof));
        kept = one->plan.kept;
    }
    // Given back meanwhile, by its old proof: that was no use.
    if (!kept && given) co_await service_.release(one->what());
    if (!one->plan.kept) throw ended(*one);
}

void lease_keeper::settle(const std::shared_ptr<lease>& one, const renewal& answer) {
    one->plan.in_flight = false;
    one->tell_answered();
    if (!one->plan.kept) return;  // given back meanwhile
    switch (answer.result) {
    case renewal::outcome::extended:
        if (one->extend(answer.deadline)) {
            schedule(*one);
        } else {
            lose(one, loss_reason::expired);
        }
        break;
    case renewal::outcome::refused: lose(one, loss_reason::taken_over); break;
    case renewal::outcome::unknown: postpone(*one); break;
    }
}

}  // namespace pawl::core
