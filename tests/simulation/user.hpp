// One user of locks in a simulated program: asks, holds, writes to what the lock guards, gives
// back, as chance has it.
#pragma once

#include "program.hpp"

#include <pawl/held_lock.hpp>

#include <boost/asio/cancellation_signal.hpp>

namespace pawl::simulation {

class user {
public:
    user(program& home, std::string label, prng chance);

    void start();
    // No new lock after the present one.
    void finish();
    [[nodiscard]] bool finished() const noexcept { return resting_ && finishing_; }
    // Its program is dead, or ends: what comes is not its business any more.
    void die();

private:
    enum class kind : std::uint8_t { once, limited, endless };

    void later(instant delay, void (user::*what)());
    void rest();
    void ask();
    void plan_cancel();
    void cancel();
    void answered(const boost::system::error_code& ec, held_lock lock);
    [[nodiscard]] bool may_fail(const boost::system::error_code& ec) const;
    [[nodiscard]] lock_options wishes();
    void work();
    void step_down();
    void stepped_down(const boost::system::error_code& ec);
    void give_back();
    void given_back(release_result found);
    void let_go();
    void say(const std::string& what) const;
    [[nodiscard]] duration ttl();

    program& home_;
    const std::string label_;
    prng chance_;
    bool resting_ = true;
    bool finishing_ = false;
    bool dead_ = false;

    // The present question.
    std::uint64_t number_ = 0;
    std::string name_;
    kind kind_{};
    duration wait_{};
    time_point asked_at_{};
    bool waiting_ = false;
    bool cancelled_ = false;
    std::uint64_t cancel_number_ = 0;
    std::unique_ptr<boost::asio::cancellation_signal> signal_;
    checker::question question_;

    // The present hold.
    held_lock lock_;
    checker::tenure_id tenure_ = 0;
    instant until_{};
    std::uint64_t token_ = 0;
    bool sure_ = false;  // that the release will find it held
};

}  // namespace pawl::simulation
