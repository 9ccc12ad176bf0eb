#include "wrong_set.hpp"

#include <pawl/runtime.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::simulation {

wrong_set::wrong_set(client& locks, runtime& time, planted bug, handler done)
    : locks_(locks), time_(time), bug_(bug), done_(std::move(done)) {}

void wrong_set::start(std::vector<std::string> names, const lock_options& options,
                      asio::cancellation_slot slot, const asio::any_io_executor& on) {
    names_ = std::move(names);
    options_ = options;
    give_up_at_ = options.wait == forever ? time_point::max() : time_.now() + options.wait;
    slot_ = slot;
    on_ = on;
    next();
}

void wrong_set::next() {
    if (mine_.size() == names_.size()) return all_are_there();
    if (give_up_at_ != time_point::max())
        options_.wait = std::max(duration{}, give_up_at_ - time_.now());
    locks_.async_acquire(
        names_[mine_.size()], options_,
        asio::bind_cancellation_slot(
            slot_,
            asio::bind_executor(
                on_, [weak = weak_from_this()](const boost::system::error_code& ec, held_lock one) {
                    if (const auto self = weak.lock()) self->answered(ec, std::move(one));
                })));
}

void wrong_set::answered(const boost::system::error_code& ec, held_lock one) {
    if (!ec) {
        mine_.push_back(std::move(one));
        return next();
    }
    if (bug_ == planted::set_keeps_the_first && !mine_.empty())
        forgotten_.push_back(std::move(mine_.front()));
    mine_.clear();
    done_(ec, {});
}

void wrong_set::all_are_there() {
    std::ranges::sort(mine_, {}, &held_lock::name);
    const auto is_lost = [](const held_lock& one) { return one.state() == lock_state::lost; };
    if (bug_ != planted::set_with_a_lost_one && std::ranges::any_of(mine_, is_lost)) {
        mine_.clear();
        return done_(make_error_code(errc::lost), {});
    }
    done_({}, held_locks(std::move(mine_)));
}

}  // namespace pawl::simulation
