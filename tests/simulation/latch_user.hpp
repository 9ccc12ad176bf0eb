// A user who sets latches and takes their steps.
#pragma once

#include "inhabitant.hpp"

namespace pawl::simulation {

class latch_user final : public inhabitant {
public:
    using inhabitant::inhabitant;

private:
    void ask() override;
    void forget() override {}
    void answered(const boost::system::error_code& ec);
};

}  // namespace pawl::simulation
