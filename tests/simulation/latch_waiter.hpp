// A user who waits for a latch: looks once, waits for a while, or until it is at 0.
#pragma once

#include "inhabitant.hpp"

namespace pawl::simulation {

class latch_waiter final : public inhabitant {
public:
    latch_waiter(program& home, std::string label, prng chance, bool redisson);
    void stop_waiting() override { give_up(); }

private:
    void ask() override;
    void forget() override {}
    void answered(const boost::system::error_code& ec);
    void rest_now() { rest(); }

    const bool redisson_;  // for Redisson's latch of that name
    const std::string known_as_;
    latch_checker::wait_id wait_id_ = 0;
};

// How a wait ended, to the checker.
[[nodiscard]] latch_checker::ending ending_of(const boost::system::error_code& ec);

}  // namespace pawl::simulation
