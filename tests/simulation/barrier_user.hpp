// A user who comes to a barrier turn after turn, and waits there for the others.
#pragma once

#include "inhabitant.hpp"

#include <pawl/latch_options.hpp>

namespace pawl::simulation {

class barrier_user final : public inhabitant {
public:
    using inhabitant::inhabitant;
    void stop_waiting() override { give_up(); }

private:
    void ask() override;
    void forget() override {}
    void arrived(const boost::system::error_code& ec, phase turn);
    void look();
    void answered(const boost::system::error_code& ec);

    instant came_{};
    latch_checker::wait_id wait_id_ = 0;  // 0: it has not come yet
};

}  // namespace pawl::simulation
