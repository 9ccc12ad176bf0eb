#include "set_user.hpp"

#include <core/lease.hpp>

#include <pawl/backend.hpp>
#include <pawl/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

set_user::set_user(program& home, std::string label, prng chance)
    : inhabitant(home, std::move(label), chance), owns_(chance_.chance(ways().owners)) {
    if (owns_) owner_.emplace(home_.locks());
}

void set_user::no_more_tenures() {
    for (const auto one : tenures_)
        if (one != 0) judge().gone(one);
    tenures_.clear();
}

void set_user::forget() {
    no_more_tenures();
    if (first_tenure_ != 0) judge().gone(first_tenure_);
    set_ = {};
    first_ = {};
    wrong_.clear();
    owner_.reset();
}

// In any order, and sometimes one of them twice.
void set_user::choose_names() {
    names_ = home_.around().names;
    for (auto left = names_.size(); left > 1; --left)
        std::swap(names_[left - 1], names_[chance_.below(left)]);
    const auto most = std::min<std::size_t>(names_.size(), 4);
    names_.resize(static_cast<std::size_t>(chance_.between(2, static_cast<std::int64_t>(most))));
    sorted_ = names_;
    std::ranges::sort(sorted_);
    if (chance_.chance(0.1)) names_.push_back(names_.front());
}

lock_options set_user::wishes() {
    auto made = plain_wishes();
    if (chance_.chance(ways().sets_read)) made.mode = lock_mode::shared;
    made.fair = chance_.chance(ways().fair);
    return made;
}

void set_user::ask() {
    if (finishing_) return rest();
    choose_names();
    choose_kind();
    options_ = wishes();
    began_ = world_now();
    began_at_ = home_.time().now();
    if (owner_ && chance_.chance(0.5)) return ask_for_first();
    ask_for_all();
}

void set_user::ask_for_first() {
    const auto& name = sorted_[chance_.below(sorted_.size())];
    asked_at_ = home_.time().now();
    questions_.assign(1, judge().asked(home_.home(), known(name), options_));
    say("asks for " + name);
    owner_->async_try_acquire(
        name, one_try(options_),
        asio::bind_executor(home_.home().get_executor(),
                            own([this](const boost::system::error_code& ec, held_lock one) {
                                first_answered(ec, std::move(one));
                            })));
}

void set_user::first_answered(const boost::system::error_code& ec, held_lock one) {
    if (dead_) return;
    say("is answered " + (ec ? ec.message() : one ? to_string(one.token()) : "busy"));
    if (ec && !may_fail(ec))
        judge().fail("I6", label_ + " got an error out of place: " + ec.message());
    if (one) {
        first_ = std::move(one);
        const auto name = std::string(first_.name());
        first_tenure_ = judge().granted(home_.home(), known(name), first_, questions_.front());
        // Who holds one may wait for somebody who waits for it.
        if (kind_ == kind::endless) kind_ = kind::limited;
        options_.wait = wait_;
    }
    ask_for_all();
}

void set_user::ask_for_all() {
    begin();
    questions_.clear();
    std::string text;
    for (const auto& name : sorted_)
        questions_.push_back(judge().asked(home_.home(), known(name), options_));
    for (const auto& name : names_)
        text += " " + name;
    judge().set_asked(home_.home(), known_as());
    say("asks for all of" + text);
    send(options_);
    plan_cancel();
}

void set_user::send(const lock_options& options) {
    const auto on = home_.home().get_executor();
    auto answer = own([this](const boost::system::error_code& ec, held_locks all) {
        answered(ec, std::move(all));
    });
    const auto bug = home_.around().what.net.bug;
    if (is_wrong_set(bug) && kind_ != kind::once) {
        wrong_.push_back(
            std::make_shared<wrong_set>(home_.locks(), home_.time(), bug, std::move(answer)));
        auto& names = bug == planted::set_in_callers_order ? names_ : sorted_;
        names.resize(sorted_.size());
        return wrong_.back()->start(names, options, signal_->slot(), on);
    }
    auto done =
        asio::bind_cancellation_slot(signal_->slot(), asio::bind_executor(on, std::move(answer)));
    if (kind_ == kind::once && owner_) {
        owner_->async_try_acquire_all(names_, one_try(options), std::move(done));
    } else if (kind_ == kind::once) {
        home_.locks().async_try_acquire_all(names_, one_try(options), std::move(done));
    } else if (owner_) {
        owner_->async_acquire_all(names_, options, std::move(done));
    } else {
        home_.locks().async_acquire_all(names_, options, std::move(done));
    }
}

// One that came early may be lost before the last one comes.
bool set_user::may_fail_together(const boost::system::error_code& ec) const {
    if (ec != make_error_code(errc::lost)) return may_fail(ec);
    const auto most = options_.max_hold - drift(options_.max_hold) - core::notice(options_.ttl);
    const bool too_long = home_.time().now() - began_at_ >= most;
    return too_long || !home_.around().what.calm_network || !never_stopped() ||
           judge().disturbed_since(known_as(), began_);
}

void set_user::answered(const boost::system::error_code& ec, held_locks all) {
    if (dead_) return;
    if (!std::exchange(waiting_, false)) judge().fail("I7", label_ + " was answered twice");
    say("is answered " + (ec ? ec.message() : all ? "with all" : "busy"));
    if (ec && !may_fail_together(ec))
        judge().fail("I6", label_ + " got an error out of place: " + ec.message());
    if (!ec && !all && kind_ != kind::once)
        judge().fail("I6", label_ + " got nothing, and no error");
    // Who comes to a question in the last moment only tries, and a try may be silent for this long.
    const auto silence = home_.around().at.where.reply_timeout;
    const bool in_time = home_.time().now() - asked_at_ <= wait_ + silence + 1s;
    if (kind_ == kind::limited && never_stopped() && !in_time)
        judge().fail("I6", label_ + " waited for all for longer than it wanted to");
    if (ec && all) judge().fail("I8", label_ + " got locks, and an error");
    if (all) take_over(std::move(all));
    judge().set_ended(home_.home(), known_as());
    if (!set_) return let_go();
    choose_end(questions_.front().ttl);
    work();
}

void set_user::take_over(held_locks all) {
    set_ = std::move(all);
    tokens_.clear();
    judge().set_given(home_.home(), set_, sorted_);
    auto name = sorted_.begin();
    auto question = questions_.begin();
    for (const held_lock& one : set_) {
        if (name == sorted_.end()) break;
        tokens_.push_back({one.token().value(), options_.mode});
        if (first_ && one.name() == first_.name())
            tenures_.push_back(enter_again(one));
        else
            tenures_.push_back(judge().granted(home_.home(), known(*name), one, *question));
        ++name;
        ++question;
    }
}

// One more handle of the hold that is watched already.
checker::tenure_id set_user::enter_again(const held_lock& one) {
    if (one.token() != first_.token() || one.safe_until() != first_.safe_until())
        judge().fail("I8", label_ + " entered a lock again, and it is another hold");
    return 0;
}

// The loss of one is told; the others stay taken, for work that has to come to its end.
void set_user::work() {
    judge().look_at_set(set_);
    auto tenure = tenures_.begin();
    for (const held_lock& one : set_)
        work_on(one, *tenure++);
    if (first_) work_on(first_, first_tenure_);
    if (finishing_ || world_now() >= until_) return give_back();
    later(next_step(), this, &set_user::work);
}

void set_user::work_on(const held_lock& one, checker::tenure_id& its) {
    if (its == 0) return;
    if (one.state() != lock_state::lost) return judge().wrote(its);
    say("has lost " + std::string(one.name()));
    judge().noticed_loss(its);
    judge().gone(std::exchange(its, 0));
    if (chance_.chance(0.5)) until_ = {};
}

void set_user::give_back() {
    const bool unlimited = set_.safe_until() - home_.time().now() > 100ms;
    const auto undisturbed = [this](auto one) { return one != 0 && !judge().excused(one); };
    sure_ = unlimited && std::ranges::all_of(tenures_, undisturbed) && never_stopped();
    const bool lost = set_.state() == lock_state::lost;
    no_more_tenures();
    until_ = world_now();
    if (chance_.chance(ways().drops)) return let_go();
    say("releases all");
    set_.async_release(asio::bind_executor(
        home_.home().get_executor(), own([this, lost](release_result found) {
            if (dead_) return;
            if (lost && found == release_result::released)
                judge().fail("I8", label_ + " lost one, and released all");
            if (first_ && found == release_result::released)
                judge().fail("I8", label_ + " has a handle of one, and released all");
            given_back(found);
        })));
}

void set_user::given_back(release_result found) {
    say(std::string("released all: ") + to_string(found));
    judge().released(known_as(), tokens_, sure_, until_, found);
    let_go();
}

void set_user::let_go() {
    set_ = {};
    if (first_) return give_back_first();
    rest();
}

void set_user::give_back_first() {
    const bool unlimited = first_.safe_until() - home_.time().now() > 100ms;
    const auto tenure = std::exchange(first_tenure_, 0);
    const bool sure = unlimited && tenure != 0 && !judge().excused(tenure) && never_stopped();
    if (tenure != 0) judge().gone(tenure);
    say("releases " + std::string(first_.name()));
    first_.async_release(asio::bind_executor(
        home_.home().get_executor(), own([this, sure, called = world_now()](release_result found) {
            if (dead_) return;
            say(std::string("released: ") + to_string(found));
            const std::string name(first_.name());
            const checker::given_up what{first_.token().value(), options_.mode};
            judge().released({known(name)}, {what}, sure, called, found);
            first_ = {};
            rest();
        })));
}

}  // namespace pawl::simulation
