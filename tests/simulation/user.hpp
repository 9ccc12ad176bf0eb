// One user of locks in a simulated program: asks, holds, writes to what the lock guards, gives
// back, as chance has it.
#pragma once

#include "inhabitant.hpp"

#include <pawl/held_lock.hpp>

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace pawl::simulation {

class user final : public inhabitant {
public:
    using inhabitant::inhabitant;

private:
    void ask() override;
    void forget() override;
    // In a callback of the loss of what it holds.
    void told_of_loss();
    [[nodiscard]] bool loses_the_handle(held_lock& lock);
    void answered(const boost::system::error_code& ec, held_lock lock);
    [[nodiscard]] lock_options wishes();
    void work();
    void step_down();
    void stepped_down(const boost::system::error_code& ec);
    void give_back();
    void given_back(release_result found);
    void let_go();

    // The present question.
    std::string name_;
    checker::question question_;

    // The present hold.
    held_lock lock_;
    std::optional<std::stop_callback<std::function<void()>>> told_;
    std::vector<held_lock> without_handle_;  // of a planted bug
    checker::tenure_id tenure_ = 0;
    std::uint64_t token_ = 0;
    bool sure_ = false;  // that the release will find it held
};

}  // namespace pawl::simulation
