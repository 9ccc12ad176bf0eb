#include "desk.hpp"

#include "core/chance.hpp"
#include "core/fork_mark.hpp"
#include "core/wait_notice.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::sqlite {
namespace {

// That wait for the event loop at a time.
constexpr unsigned most_rings = 256;

asio::awaitable<bool> cancelled() {
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() != asio::cancellation_type::none;
}

}  // namespace

// To be found by rings until it goes out of scope.
class desk::place {
public:
    place(desk& at, const std::string& owner)
        : at_(at), owner_(owner), mine_{{*at.context_.time, at.context_.strand}, {}} {
        at_.waiting_.emplace(owner_, &mine_);
    }
    ~place() { at_.waiting_.erase(owner_); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    waiting* operator->() noexcept { return &mine_; }

private:
    desk& at_;
    const std::string& owner_;
    waiting mine_;
};

desk::desk(store::settings what, backend_context context)
    : context_(std::move(context)),
      born_in_(core::fork_generation()),
      idle_(*context_.time, context_.strand),
      thread_(context_.strand, [this] { file_->close(); }),
      file_(std::make_unique<store>(
          std::move(what), *context_.time, thread_.executor(),
          store::events{[this](const ring& news) { heard(news); },
                        [this](const std::string& owner) { tell_lost(owner); }})) {}

desk::~desk() {
    thread_.stop();
    // In a fork the connection is the parent's, and closing it here would damage the file.
    if (forked()) static_cast<void>(file_.release());
}

asio::awaitable<std::optional<grant>> desk::acquire(const claim& what, time_point give_up_at) {
    const busy here(*this);
    const bool too_late = co_await cancelled();
    if (too_late) throw boost::system::system_error(asio::error::operation_aborted);
    auto found = co_await attempt(what, give_up_at);
    const bool waited = found.what == standing::kind::waiting;
    if (waited) found = co_await wait_for_grant(what, give_up_at, std::move(found));
    const bool given_up = co_await cancelled();
    if (given_up) {
        if (found.what == standing::kind::granted) co_await leave(what, false);
        throw boost::system::system_error(asio::error::operation_aborted);
    }
    if (found.what != standing::kind::granted) co_return std::nullopt;
    if (waited) ++context_.count->hand_offs;
    // The lease and we read the same clock, so this is exact.
    const auto margin = drift(found.confirm ? std::min(what.ttl, claim_window) : what.ttl);
    co_return grant{
        found.expires - margin, what.fenced ? found.token : fencing_token{}, {}, found.confirm};
}

// Asks again while another process keeps the file busy, or the disk is full, and there is time: a
// transaction that failed so has changed nothing.
asio::awaitable<standing> desk::attempt(const claim& what, time_point give_up_at) {
    auto& time = *context_.time;
    const bool wait = give_up_at > time.now();
    core::wait_notice notice(time, context_.log);
    core::alarm pause(time, context_.strand);
    duration longest = 100ms;
    for (;;) {
        std::optional<database_error> trouble;
        try {
            co_return co_await run([&what, wait](store& file) { return file.attempt(what, wait); });
        } catch (const database_error& failed) {
            trouble = failed;
        }
        const bool given_up = co_await cancelled();
        if (given_up) throw boost::system::system_error(asio::error::operation_aborted);
        const auto now = time.now();
        if (!trouble->passing || now >= give_up_at) throw *trouble;
        notice.say(trouble->what());
        const auto rest = core::random_between(time, longest / 2, longest);
        longest = std::min<duration>(longest * 2, 1s);
        co_await pause.wait_until(std::min(give_up_at, now + rest));
    }
}

// Ends with granted, or with busy when the time is over or the wait is cancelled; then we are out
// of line.
asio::awaitable<standing> desk::wait_for_grant(const claim& what, time_point give_up_at,
                                               standing found) {
    place here(*this, what.owner);
    while (found.what == standing::kind::waiting) {
        const bool given_up = co_await cancelled();
        const auto now = context_.time->now();
        if (given_up || now >= give_up_at) {
            const auto late = co_await leave(what, !given_up);
            co_return late ? *late : standing{};
        }
        auto next =
            std::min(give_up_at, now + core::random_between(*context_.time, 1000ms, 1500ms));
        if (found.first) next = std::min(next, found.expires);
        try {
            co_await here->alarm.wait_until(next);
        } catch (const boost::system::system_error&) {
            continue;  // cancelled
        }
        if (here->given)
            found = *here->given;
        else
            found = co_await look(what, std::move(found));
    }
    co_return found;
}

asio::awaitable<standing> desk::look(const claim& what, standing before) {
    try {
        co_return co_await run([&what](store& file) { return file.look(what); });
    } catch (const database_error& failed) {
        if (!failed.passing) {
            keep_trying_to_leave(what);
            throw;
        }
    }
    before.first = false;  // the next look comes after a while, not at once
    co_return before;
}

asio::awaitable<std::optional<standing>> desk::leave(const claim& what, bool keep) {
    try {
        co_return co_await run([&what, keep](store& file) { return file.leave(what, keep); });
    } catch (const error&) {
        keep_trying_to_leave(what);
    }
    co_return std::nullopt;
}

asio::awaitable<release_result> desk::release(const claim& what) {
    const busy here(*this);
    try {
        co_return co_await run([&what](store& file) { return file.release(what); });
    } catch (const error&) {
        keep_trying_to_leave(what);
    }
    co_return release_result::unknown;
}

void desk::keep_trying_to_leave(const claim& what) {
    asio::co_spawn(context_.strand, leave_later(shared_from_this(), what), asio::detached);
}

asio::awaitable<void> desk::leave_later(std::shared_ptr<desk> self, claim what) {
    const busy here(*self);
    auto& time = *self->context_.time;
    const auto begun = time.now();
    core::alarm pause(time, self->context_.strand);
    for (;;) {
        co_await pause.wait_until(time.now() + core::random_between(time, 300ms, 600ms));
        // After the ttl there is nothing left to undo.
        if (self->thread_.stopped() || self->forked() || time.now() - begun >= what.ttl) co_return;
        try {
            co_await self->run([&what](store& file) { return file.leave(what, false); });
            co_return;
        } catch (const error& failed) {
            if (self->context_.log) self->context_.log(failed.what());
        }
    }
}

asio::awaitable<void> desk::close(time_point give_up_at) {
    const auto self = shared_from_this();
    if (forked()) co_return;
    bool in_time = true;
    while (busy_ > 0 && in_time)
        in_time = co_await idle_.wait_until(give_up_at);
    if (busy_ > 0) file_->hurry();
    co_await run([](store& file) { return file.close(), true; });
    thread_.stop();
}

// On the worker's thread.
void desk::heard(const ring& news) {
    ++context_.count->pushes;
    std::optional<standing> ours;
    try {
        if (news.what == ring::kind::latch) return post_ring(on_latch(*file_, news.name));
        ours = file_->granted(news.name, news.owner);
    } catch (const error&) {
        if (news.what != ring::kind::granted) return;  // the next renewal, or look, will tell
    }
    if (news.what == ring::kind::forced && ours) return;
    post_ring([this, news, ours] {
        if (news.what == ring::kind::forced)
            context_.listener->lost(news.owner, loss_reason::forced);
        else
            wake(news.owner, ours);
    });
}

// Any user of the host may ring, also while the event loop is busy with something else. What a
// dropped ring had to say is found by a look, or by the next renewal.
void desk::post_ring(std::function<void()> effect) {
    if (rings_ >= most_rings) return;
    auto run = [weak = weak_from_this(), effect = std::move(effect)] {
        const auto self = weak.lock();
        if (!self) return;
        --self->rings_;
        effect();
    };
    ++rings_;
    try {
        asio::post(context_.strand, std::move(run));
    } catch (...) {
        --rings_;
        throw;
    }
}

void desk::tell_lost(const std::string& owner) {
    asio::post(context_.strand, [weak = weak_from_this(), owner] {
        if (const auto self = weak.lock())
            self->context_.listener->lost(owner, loss_reason::taken_over);
    });
}

void desk::wake(const std::string& owner, const std::optional<standing>& given) {
    const auto found = waiting_.find(owner);
    if (found == waiting_.end()) return;
    if (given) found->second->given = given;
    found->second->alarm.ring();
}

bool desk::forked() const noexcept { return core::fork_generation() != born_in_; }

void desk::refuse_fork() const {
    if (forked())
        throw error(
            errc::unsupported,
            "This process is a fork, and this client belongs to its parent; fork before the first "
            "client is made, or exec.");
}

}  // namespace pawl::sqlite
