// acquire_all as it is easily written wrongly, name after name: for the bugs of planted.hpp that
// no part below the core could plant.
#pragma once

#include "planted.hpp"

#include <pawl/client.hpp>
#include <pawl/held_locks.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pawl::simulation {

[[nodiscard]] constexpr bool is_wrong_set(planted bug) noexcept {
    return bug == planted::set_in_callers_order || bug == planted::set_keeps_the_first ||
           bug == planted::set_with_a_lost_one;
}

// Goes on for as long as somebody owns it.
class wrong_set : public std::enable_shared_from_this<wrong_set> {
public:
    using handler = std::function<void(const boost::system::error_code&, held_locks)>;

    wrong_set(client& locks, runtime& time, planted bug, handler done);
    void start(std::vector<std::string> names, const lock_options& options,
               boost::asio::cancellation_slot slot, const boost::asio::any_io_executor& on);

private:
    void next();
    void answered(const boost::system::error_code& ec, held_lock one);
    void all_are_there();

    client& locks_;
    runtime& time_;
    const planted bug_;
    const handler done_;
    std::vector<std::string> names_;
    lock_options options_;
    time_point give_up_at_{};
    boost::asio::cancellation_slot slot_;
    boost::asio::any_io_executor on_;
    std::vector<held_lock> mine_;
    std::vector<held_lock> forgotten_;
};

}  // namespace pawl::simulation
